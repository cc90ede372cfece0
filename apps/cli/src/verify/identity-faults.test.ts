import { type Contract, type ContractFile, contractFileSchema, contractSchema, type RunDocument } from '@osworld-e2b/contracts'
import { canonicalJson, sha256Hex } from '@osworld-e2b/inventory'
import { expect, test } from 'vitest'
import { contractSha256 } from '../run/contract-digest.ts'
import { identityFaults } from './identity-faults.ts'

const sha = 'b'.repeat(64)
const operation = { route: { kind: 'local', final: false }, num_envs: 2, max_attempts_per_trial: 3, attempt_timeout_seconds: 60, ready_deadline_seconds: 60, execution_authorized: false }
const scoring = { profile: 'p', suite: 's', trials: 1, agent: { kind: 'none' }, max_steps: 5, timing: 'settled', screen: { width: 1920, height: 1080 }, enable_proxy: false }
const written: ContractFile = contractFileSchema.parse({ schema_version: 2, scoring, operation })
const contract: Contract = contractSchema.parse({
  schema_version: 2,
  scoring: { ...scoring, tasks: [{ domain: 'os', id: 'a', task_sha256: sha }], template: 'base:6f1f5a3e-0000-4000-8000-000000000000', adjustments_sha256: sha },
  operation,
})
const document: RunDocument = {
  schema_version: 2,
  run_id: 'one',
  run_uid: '0'.repeat(32),
  created_at: '2026-01-01T00:00:00.000Z',
  contract: { path: 'contract.json', scoring_sha256: sha256Hex(canonicalJson(contract.scoring)) },
  contract_sha256: contractSha256(written),
  upstream: { name: 'u', version: '1', sha256: sha },
  runtime: { osworld_e2b: '0', node: '20', python: '3.11', platform: 'linux' },
  unconfined: false,
  unverified: false,
}
const operated = (attempt_timeout_seconds: number): ContractFile => ({ ...written, operation: { ...written.operation, attempt_timeout_seconds } })
const scored = (max_steps: number): ContractFile => ({ ...written, scoring: { ...written.scoring, max_steps } })

test('the contracts that the run was made with have no fault, and what cannot be read is told elsewhere', () => {
  expect(identityFaults({ document, contract, written, starts: 1 })).toEqual([])
  expect(identityFaults({ document: undefined, contract, written, starts: 1 })).toEqual([])
  expect(identityFaults({ document, contract: undefined, written: undefined, starts: 1 })).toEqual([])
})

test('an authorization is no part of what was authorized', () => {
  const authorized = { ...written, operation: { ...written.operation, execution_authorized: true } }
  expect(identityFaults({ document, contract, written: authorized, starts: 1 })).toEqual([])
})

test('a written contract that is not the one of the only start is found', () => {
  const other = operated(61)
  expect(identityFaults({ document, contract, written: other, starts: 1 })).toEqual([
    {
      kind: 'identity',
      path: 'written-contract.json',
      message: `written-contract.json is not the contract that the run was started with: it has the digest ${contractSha256(other)}, and run.json records ${contractSha256(written)}; get an unchanged copy of the folder.`,
    },
  ])
})

test('a later start may have other operational settings and no other scoring', () => {
  expect(identityFaults({ document, contract, written: operated(61), starts: 2 })).toEqual([])
  expect(identityFaults({ document, contract, written: scored(50), starts: 2 }).map(({ message }) => message)).toEqual([
    'written-contract.json is not the contract that the run was started with: its max_steps differ from contract.json; get an unchanged copy of the folder.',
  ])
})
