import { operationSchema } from '@osworld-e2b/contracts'
import { expect, test } from 'vitest'
import { UsageError } from '../usage-error.ts'
import type { RunArguments } from './arguments.ts'
import { type Limits, limitOptions } from './limit-options.ts'

function limits(given: Partial<RunArguments>, known: Limits = {}): Limits {
  return limitOptions({ record: true, ...given }, known)
}

test('nothing typed and nothing known limits nothing', () => {
  expect(limits({})).toEqual({})
})

test('what is typed becomes what a contract says', () => {
  const said = limits({
    endpoint: ['FIRST_URL', 'SECOND_URL'],
    endpointKey: ['SECOND_URL=SECOND_KEY'],
    endpointConcurrency: '4',
    modelCallAttempts: '3',
    keepModelContent: true,
    budgetUsd: '45',
    budgetSandboxHours: '100',
    budgetRequests: '2000000',
    budgetTokens: '5000000000',
    runSeconds: '7200',
    launchesPerSecond: '5',
    setupTimeout: '600',
    agentTimeout: '1200',
    evaluateTimeout: '300',
  })
  expect(said).toEqual({
    endpoints: [{ label: 'FIRST_URL', max_concurrent_requests: 4 }, { label: 'SECOND_URL', api_key_variable: 'SECOND_KEY', max_concurrent_requests: 4 }],
    model_call_attempts: 3,
    keep_model_content: true,
    budget: { cost_usd_cents: 4500, sandbox_hours: 100, model_requests: 2_000_000, model_tokens: 5_000_000_000 },
    run_seconds: 7200,
    launches_per_second: 5,
    phase_timeout_seconds: { setup: 600, agent: 1200, evaluate: 300 },
  })
  const whole = { route: { kind: 'local', final: false }, num_envs: 1, max_attempts_per_trial: 1, attempt_timeout_seconds: 1800, ready_deadline_seconds: 60, execution_authorized: false, ...said }
  expect(operationSchema.parse(whole)).toEqual(whole)
})

test('what is known stands where nothing is typed, part by part', () => {
  const known: Limits = { budget: { sandbox_hours: 5, model_tokens: 7 }, phase_timeout_seconds: { setup: 60 }, endpoints: [{ label: 'FIRST_URL' }], run_seconds: 9, agent_url_variable: 'AGENT_URL' }
  expect(limits({}, known)).toEqual(known)
  expect(limits({ budgetTokens: '8', agentTimeout: '30', endpointKey: ['FIRST_URL=FIRST_KEY'] }, known)).toEqual({
    ...known,
    budget: { sandbox_hours: 5, model_tokens: 8 },
    phase_timeout_seconds: { setup: 60, agent: 30 },
    endpoints: [{ label: 'FIRST_URL', api_key_variable: 'FIRST_KEY' }],
  })
})

test.each([
  ['45', 4500],
  ['0.5', 50],
  ['0.29', 29],
  ['1.15', 115],
])('a budget of %s dollars is %i cents', (typed, expected) => {
  expect(limits({ budgetUsd: typed }).budget).toEqual({ cost_usd_cents: expected })
})

const variable = "--endpoint takes the upper-case name of the environment variable that holds the model's address, such as QWEN_BASE_URL; export it and give its name."
const pair = '--endpoint-key takes an endpoint and the upper-case name of the environment variable that holds its key, such as QWEN_BASE_URL=QWEN_API_KEY; export the key and give the name.'
test.each<[Partial<RunArguments>, string]>([
  [{ endpoint: ['https://me:secret@host/v1'] }, variable],
  [{ endpoint: ['qwen'] }, variable],
  [{ endpoint: ['A', 'A'] }, '--endpoint names A twice; name it once.'],
  [{ endpoint: ['A'], endpointKey: ['A=sk-secret'] }, pair],
  [{ endpoint: ['A'], endpointKey: ['A_KEY'] }, pair],
  [{ endpoint: ['A', 'B'], endpointKey: ['C=C_KEY'] }, '--endpoint-key is about C, which no endpoint is called; the endpoints are A, B.'],
  [{ endpoint: ['A'], endpointKey: ['A=B', 'A=C'] }, '--endpoint-key names a key of A twice; name it once.'],
  [{ endpointKey: ['A=B'] }, '--endpoint-key is about an endpoint, and none is named; name one with --endpoint.'],
  [{ endpointConcurrency: '2' }, '--endpoint-concurrency is about an endpoint, and none is named; name one with --endpoint.'],
  [{ budgetUsd: '0' }, '--budget-usd 0 is not an amount in dollars and cents, such as 45 or 0.50.'],
  [{ budgetUsd: '1.005' }, '--budget-usd 1.005 is not an amount in dollars and cents, such as 45 or 0.50.'],
  [{ budgetTokens: '1e6' }, '--budget-tokens 1e6 is not a whole number from 1 to 9007199254740991.'],
  [{ launchesPerSecond: '1001' }, '--launches-per-second 1001 is not a whole number from 1 to 1000.'],
  [{ agentTimeout: '90000' }, '--agent-timeout 90000 is not a whole number from 1 to 86400.'],
])('%o is refused', (given, sentence) => {
  expect(() => limits(given)).toThrow(new UsageError(sentence))
})
