import { inspect } from 'node:util'
import { type ContractFile, contractFileSchema } from '@osworld-e2b/contracts'
import { expect, test } from 'vitest'
import { UsageError } from '../usage-error.ts'
import { gatewayOptionsOf } from './gateway-options.ts'

const prices = { schema_version: 1, models: {} } as const
const key = 'correct-horse-battery'

function contract(agent: object, operation: object = {}): ContractFile {
  return contractFileSchema.parse({
    schema_version: 2,
    scoring: { profile: 'package-1.0.2', suite: 'starter', agent, max_steps: 5 },
    operation: { route: { kind: 'local', final: true }, num_envs: 1, attempt_timeout_seconds: 60, ...operation },
  })
}

const qwen = { kind: 'upstream', name: 'qwen3vl', model: 'm', settings: {} }
const endpoints = [{ label: 'FIRST_URL', api_key_variable: 'FIRST_KEY', max_concurrent_requests: 4 }, { label: 'SECOND_URL' }]
const environment = { FIRST_URL: 'https://first.example/v1', FIRST_KEY: key, SECOND_URL: 'http://127.0.0.1:2/' }

test('the gateway is told addresses as they are, keys as secrets, and what the contract limits', () => {
  const told = gatewayOptionsOf({ contract: contract(qwen, { endpoints, model_call_attempts: 3, keep_model_content: true, budget: { model_requests: 70 } }), environment, prices })
  expect(told).toMatchObject({ callAttempts: 3, requestCap: 70, keepContent: true, prices })
  expect(told.endpoints.map(({ label, url, apiKey, maxConcurrentRequests }) => [label, url, apiKey?.reveal(), maxConcurrentRequests])).toEqual([
    ['FIRST_URL', 'https://first.example/v1', key, 4],
    ['SECOND_URL', 'http://127.0.0.1:2/', undefined, undefined],
  ])
  expect(inspect(told, { depth: 9 }) + JSON.stringify(told)).not.toContain(key)
})

test('what the contract leaves open is five tries, no cap and no content', () => {
  const told = gatewayOptionsOf({ contract: contract(qwen, { endpoints: [{ label: 'SECOND_URL' }] }), environment, prices })
  expect(told).toEqual({ endpoints: [{ label: 'SECOND_URL', url: 'http://127.0.0.1:2/' }], callAttempts: 5, keepContent: false, prices })
})

test("an agent that asks none of the contract's endpoints has none", () => {
  expect(gatewayOptionsOf({ contract: contract({ kind: 'none' }, { endpoints }), environment: {}, prices }).endpoints).toEqual([])
  expect(gatewayOptionsOf({ contract: contract({ kind: 'http', name: 'theirs', settings: {} }), environment: {}, prices }).endpoints).toEqual([])
})

test('a variable that is not set is named, and no other value is', () => {
  const read = (variables: NodeJS.ProcessEnv) => () => gatewayOptionsOf({ contract: contract(qwen, { endpoints }), environment: variables, prices })
  expect(read({ ...environment, FIRST_KEY: '' })).toThrow(new UsageError('The environment variable FIRST_KEY, which operation.endpoints names, is not set; set it and start the run again.'))
  expect(read({ ...environment, SECOND_URL: undefined })).toThrow(new UsageError('The environment variable SECOND_URL, which operation.endpoints names, is not set; set it and start the run again.'))
})
