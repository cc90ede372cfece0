import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileDigests } from '@osworld-e2b/gates'
import { expect, onTestFinished, test } from 'vitest'
import { loadContractFile } from '../contract/load-contract-file.ts'
import { UsageError } from '../usage-error.ts'
import type { RunArguments } from './arguments.ts'
import { contractSha256 } from './contract-digest.ts'
import { contractFileOf } from './contract-of-options.ts'
import { refuseFlagsAlone } from './gate.ts'
import { parseRunOptions, type RunOptions } from './options.ts'
import type { Planned } from './planned.ts'
import { writeContractFile } from './write-contract.ts'

const sha256 = 'd'.repeat(64)
const task = (id: string) => ({ domain: 'os', id, proxy: false, needsDrive: false })
const planned: Planned = { suite: 'starter', inventory: { suite: 'starter', task_count: 2, inventory_sha256: sha256 }, tasks: [task('a'), task('b')] }
const digests: FileDigests = { scriptsSha256: undefined, agentSha256: undefined, adjustmentsSha256: undefined }

function parse(given: Partial<RunArguments>): RunOptions {
  return parseRunOptions({ record: true, ...given }, { environment: { HOME: '/home/me' }, now: new Date(0), machine: { cores: 16, availableBytes: 2 ** 36 }, recorded: undefined, contract: undefined, prices: { schema_version: 1, models: {} } })
}

async function fileIn(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'write-contract-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return join(folder, 'contract.json')
}

const qwen = { agent: 'qwen3vl', model: 'm', agentSetting: ['top_p=0.9'], endpoint: ['QWEN_BASE_URL'], endpointKey: ['QWEN_BASE_URL=QWEN_API_KEY'], budgetUsd: '5' }

test('flags amount to a contract with the figures of its suite and the digests of its files', () => {
  expect(contractFileOf(parse(qwen), planned, digests)).toMatchObject({
    scoring: { suite: 'starter', task_count: 2, inventory_sha256: sha256, agent: { kind: 'upstream', name: 'qwen3vl', model: 'm', settings: { top_p: '0.9' } } },
    operation: { route: { kind: 'local', final: false }, num_envs: 2, execution_authorized: false, endpoints: [{ label: 'QWEN_BASE_URL', api_key_variable: 'QWEN_API_KEY' }], budget: { cost_usd_cents: 500 } },
  })
  expect(contractFileOf(parse({}), planned, { ...digests, scriptsSha256: sha256 }).scoring.agent).toEqual({ kind: 'scripted', scripts: 'solve', scripts_sha256: sha256 })
  expect(contractFileOf(parse({ agent: 'mine:Agent', model: 'm', agentPath: '/agents' }), planned, { ...digests, agentSha256: sha256 }).scoring.agent).toMatchObject({ kind: 'module', source_sha256: sha256 })
})

test('a selection is part of it, unless it leaves nothing out', () => {
  expect(contractFileOf(parse({ task: ['os/a'] }), { ...planned, tasks: [task('a')] }, digests).scoring.selection).toEqual(['os/a'])
  expect(contractFileOf(parse({ task: ['os/a', 'os/b'] }), planned, digests).scoring.selection).toBeUndefined()
})

test('what is written authorizes nothing, and its sentence tells the digest that it has once it is final', async () => {
  const file = await fileIn()
  const options = parse(qwen)
  const sentence = await writeContractFile(contractFileOf(options, planned, digests), { ...options, file })
  const written = await loadContractFile(file)
  const digest = contractSha256({ ...written, operation: { ...written.operation, route: { kind: 'local', final: true }, execution_authorized: true } })
  expect(written.operation).toMatchObject({ route: { final: false }, execution_authorized: false })
  expect(written.operation.authorization).toBeUndefined()
  expect(sentence).toBe(`The contract is in ${file} and authorizes nothing; after reviewing it set operation.route.final and operation.execution_authorized to true in it, write "authorization": {"contract_sha256": "${digest}"} into its operation, and run it with --contract ${file}.`)
})

test.each<[Partial<RunArguments>, string]>([
  [{ agent: 'mine:Agent', model: 'm', agentPath: '/agents' }, ' --agent-path /agents.'],
  [{ agent: 'http', agentUrl: 'http://127.0.0.1:9100' }, ' --agent-url http://127.0.0.1:9100.'],
  [{ agent: 'http' }, ' --agent-url ADDRESS.'],
])('the sentence for %o names what no contract holds', async (given, end) => {
  const [file, options] = [await fileIn(), parse(given)]
  expect(await writeContractFile(contractFileOf(options, planned, digests), { ...options, file })).toMatch(new RegExp(`and run it with --contract ${file}${end.replaceAll('.', '\\.')}$`))
})

test('a free contract is only run', async () => {
  const [file, options] = [await fileIn(), parse({})]
  expect(await writeContractFile(contractFileOf(options, planned, digests), { ...options, file })).toBe(`The contract is in ${file}; run it with --contract ${file}.`)
})

test('another file is not written over, and a folder of tasks is no suite', async () => {
  const [file, options] = [await fileIn(), parse({})]
  await writeFile(file, '')
  await expect(writeContractFile(contractFileOf(options, planned, digests), { ...options, file })).rejects.toThrow(new UsageError(`--write-contract: ${file} is there already; name another file, or remove it.`))
  await expect(writeContractFile(contractFileOf(options, planned, digests), { ...options, source: { kind: 'tasks', folder: '/tasks' }, file })).rejects.toThrow(new UsageError('--write-contract: a contract names its tasks by a suite, and --tasks is only a folder of them; make it a suite with a suite.json, and name it with --suite.'))
})

test("a suite of the user's own is written by its folder", () => {
  expect(contractFileOf(parse({ suite: '/suites/mine', writeContract: 'c.json' }), planned, digests).scoring.suite).toBe('/suites/mine')
  expect(contractFileOf(parse({ suite: '/suites/mine' }), planned, digests).scoring.suite).toBe('starter')
})

test('flags alone run what is free, and nothing that may cost money', () => {
  const refused = () => {
    refuseFlagsAlone(parse(qwen), contractFileOf(parse(qwen), planned, digests))
  }
  expect(refused).toThrow(expect.objectContaining({ name: 'RefusedError', message: 'This run may cost money, and flags authorize nothing; write the contract that they amount to with --write-contract FILE, review it, and run it with --contract FILE.' }))
  expect(() => {
    refuseFlagsAlone(parse({}), contractFileOf(parse({}), planned, digests))
  }).not.toThrow()
})
