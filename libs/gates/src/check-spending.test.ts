import { describe, expect, test } from 'vitest'
import { type Changes, contractDigest, fullSuite, starter } from '../test/examples.ts'
import type { AnyContract } from './any-contract.ts'
import { checkExecution } from './check-execution.ts'
import { checkSpending, type SpendingFacts } from './check-spending.ts'

const nowMs = Date.parse('2026-11-30T12:00:00Z')
const addresses = new Map([['QWEN_BASE_URL', 'http://127.0.0.1:8000/v1']])
const priced = { models: { qwen3vl: { input: '0.1', output: '0.4' } } }
const facts = { addresses, keysSet: new Set<string>(), agentUrl: undefined, prices: priced, sandboxHourUsd: 0.3312, nowMs }

/** Authorized for itself, unless the changes say otherwise. */
function authorized(changes: Changes = {}): AnyContract {
  const final = { 'operation.route.final': true, 'operation.execution_authorized': true, ...changes }
  return fullSuite({ 'operation.authorization': { contract_sha256: contractDigest(fullSuite(final)) }, ...final })
}

function spending(contract: AnyContract, given: Partial<SpendingFacts> = {}): readonly string[] {
  return checkSpending({ contract, contractSha256: contractDigest(contract), ...facts, ...given }).map(({ message }) => message)
}

test('a final, authorized contract with its endpoints may spend', () => {
  expect(spending(authorized())).toEqual([])
})

const own = contractDigest(authorized())
const other = 'e'.repeat(64)
const cases: [wrong: string, contract: AnyContract, sentence: string][] = [
  ['that is not authorized', authorized({ 'operation.execution_authorized': false }), 'operation.execution_authorized is false, and this run may cost money; set it to true after reviewing the contract.'],
  ['that is not final', authorized({ 'operation.route.final': false }), 'operation.route.final is false, and only a final run may cost money; set it to true, or use the local route with an agent that asks no model.'],
  ['without a template', authorized({ 'scoring.template': undefined }), 'scoring.template is missing, and a paid run names an image that cannot change; write name:build_id.'],
  ['without an authorization', authorized({ 'operation.authorization': undefined }), `operation.authorization is missing; after reviewing the contract write {"contract_sha256": "${own}"}.`],
  ["with another contract's authorization", authorized({ 'operation.authorization': { contract_sha256: other } }), `operation.authorization.contract_sha256 is ${other}, but this contract has ${own}; review what changed and write that digest.`],
  ['whose authorization is over', authorized({ 'operation.authorization': { contract_sha256: own, expires_at: '2026-11-30T12:00:00Z' } }), 'operation.authorization.expires_at is 2026-11-30T12:00:00Z, which is over; authorize the contract again with a later time.'],
]

test.each(cases)('a contract %s may not spend', (_, contract, sentence) => {
  expect(spending(contract)).toEqual([sentence])
})

test('a contract that is not final is told no digest, since that would change', () => {
  expect(spending(authorized({ 'operation.authorization': undefined, 'operation.route.final': false })).at(-1)).toBe('operation.authorization is missing, and the digest that it names changes with operation.route.final; set that first, and the next refusal tells the digest.')
})

test('an authorization holds until it expires', () => {
  expect(spending(authorized({ 'operation.authorization': { contract_sha256: own, expires_at: '2026-11-30T12:00:00.001Z' } }))).toEqual([])
})

test.each<[string, string | undefined, string]>([
  ['without an address', undefined, "operation.endpoints.0.label names QWEN_BASE_URL, which is not set; set that environment variable to the endpoint's address."],
  ['with a word for an address', 'not-an-address', 'operation.endpoints.0.label names QWEN_BASE_URL, which holds no plain address; set it to one that begins with http:// or https://, without a login or a query.'],
  ['with a login in its address', 'http://me:secret@127.0.0.1/v1', 'operation.endpoints.0.label names QWEN_BASE_URL, which holds no plain address; set it to one that begins with http:// or https://, without a login or a query.'],
])('an endpoint %s spends no money', (_, address, sentence) => {
  expect(spending(authorized(), { addresses: new Map(address === undefined ? [] : [['QWEN_BASE_URL', address]]) })).toEqual([sentence])
})

test('an endpoint with a key needs it set, and its value is asked of nobody', () => {
  const contract = authorized({ 'operation.endpoints': [{ label: 'QWEN_BASE_URL', api_key_variable: 'QWEN_API_KEY' }] })
  expect(spending(contract)).toEqual(["operation.endpoints.0.api_key_variable names QWEN_API_KEY, which is not set; set that environment variable to the endpoint's key."])
  expect(spending(contract, { keysSet: new Set(['QWEN_API_KEY']) })).toEqual([])
})

describe('a budget of dollars', () => {
  const contract = (changes: Changes = {}) => authorized({ 'operation.budget': { cost_usd_cents: 4500 }, ...changes })

  test('below the worst case is accepted when every price is known', () => {
    expect(spending(contract())).toEqual([])
  })

  test.each<[string, AnyContract, Partial<SpendingFacts>, string]>([
    ['a model', contract(), { prices: { models: { 'another-model': priced.models.qwen3vl } } }, 'the price of the model qwen3vl is not known, and unknown cost cannot be limited; add it to a price table and give that with --prices'],
    ['a model that is called like a property of every object', contract({ 'scoring.agent.model': 'constructor' }), {}, 'the price of the model constructor is not known, and unknown cost cannot be limited; add it to a price table and give that with --prices'],
    ['a model that is not named', contract({ 'scoring.agent': { kind: 'http', name: 'theirs', settings: {} } }), { agentUrl: 'http://127.0.0.1:9' }, 'scoring.agent.model is missing, and unknown cost cannot be limited; name the model that the agent asks'],
    ['a sandbox', contract({ 'operation.route.kind': 'e2b-compatible' }), { sandboxHourUsd: null }, 'the price of a sandbox on route e2b-compatible is not known, and unknown cost cannot be limited; give it with --sandbox-hour-usd'],
  ])('is refused without the price of %s', (_, given, more, rest) => {
    expect(spending(given, more)).toEqual([`operation.budget.cost_usd_cents is 4,500, but ${rest}, or take the budget out.`])
  })

  test('of a local run needs no price of a sandbox', () => {
    expect(spending(contract({ 'operation.route.kind': 'local' }), { sandboxHourUsd: null })).toEqual([])
  })
})

test('a budget of hours or requests that the run could exceed is accepted, since it is kept while the run goes on', () => {
  expect(spending(authorized({ 'operation.budget': { sandbox_hours: 1, model_requests: 1, model_tokens: 1 } }))).toEqual([])
})

describe('the address of an agent that is asked over HTTP', () => {
  const contract = (variable?: string) => authorized({ 'scoring.agent': { kind: 'http', name: 'theirs', settings: {} }, 'operation.agent_url_variable': variable, 'operation.budget': undefined })
  const unplain = 'The address of the agent theirs is no plain one; give one that begins with http:// or https://, without a login or a query.'

  test.each<[string, string | undefined, string | undefined, readonly string[]]>([
    ['is fine on this machine', 'AGENT_URL', 'http://127.0.0.1:9100', []],
    ['is fine elsewhere', undefined, 'https://agent.example/osworld', []],
    ['has no variable', undefined, undefined, ['operation.agent_url_variable is missing, and an agent of kind http is asked at an address; name the environment variable that holds it, or give --agent-url.']],
    ['has a variable that is not set', 'AGENT_URL', undefined, ["operation.agent_url_variable names AGENT_URL, which is not set; set that environment variable to the agent's address, or give --agent-url."]],
    ['is no address', 'AGENT_URL', 'agent', [unplain]],
    ['is a file', 'AGENT_URL', 'file:///etc/passwd', [unplain]],
    ['holds a login', undefined, 'http://me:secret@127.0.0.1:9100', [unplain]],
  ])('%s', (_, variable, agentUrl, expected) => {
    expect(spending(contract(variable), { agentUrl })).toEqual(expected)
  })
})

test('everything that is missing is told at once, and keys in the environment authorize nothing', () => {
  const rules = checkSpending({ contract: fullSuite(), contractSha256: own, ...facts }).map(({ rule }) => rule)
  expect(rules).toEqual(['not_authorized', 'not_final', 'authorization_missing'])
})

test.each<[string, Changes]>([
  ['one more attempt', { 'operation.max_attempts_per_trial': 3 }],
  ['another model', { 'scoring.agent.model': 'dearer' }],
  ['more at a time', { 'operation.num_envs': 9 }],
  ['a larger budget', { 'operation.budget.model_requests': 999_999 }],
])('an authorization does not cover the contract with %s', (_, changes) => {
  expect(spending(authorized({ 'operation.authorization': { contract_sha256: own }, ...changes }))[0]).toMatch(/^operation\.authorization\.contract_sha256 is /)
})

test('the digest leaves out what authorizes and what an editor needs, and a default may be written out', () => {
  const plain = fullSuite()
  expect(contractDigest(fullSuite({ $schema: './contract.schema.json', 'operation.execution_authorized': true, 'operation.authorization': { contract_sha256: other } }))).toBe(contractDigest(plain))
  expect(contractDigest(fullSuite({ 'scoring.trials': 1, 'scoring.screen': { width: 1920, height: 1080 } }))).toBe(contractDigest(plain))
  expect(contractDigest(fullSuite({ description: 'another' }))).not.toBe(contractDigest(plain))
})

test('scripts on this machine are free and need no authorization', () => {
  expect(spending(starter(), { addresses: new Map() })).toEqual([])
  expect(spending(starter({ 'scoring.agent': { kind: 'none' } }), { addresses: new Map() })).toEqual([])
})

test.each<[string, Changes]>([
  ['scripts on E2B', { 'operation.route.kind': 'e2b' }],
  ['scripts on a compatible server', { 'operation.route.kind': 'e2b-compatible' }],
  ['an agent of the user\'s own that asks its model elsewhere', { 'scoring.agent': { kind: 'http', name: 'theirs', settings: {} } }],
  ['a model on this machine', { 'scoring.agent': { kind: 'module', class: 'agents.mine:Agent', model: 'm', settings: {} }, 'operation.endpoints': [{ label: 'QWEN_BASE_URL' }] }],
])('%s may cost money and need it', (_, changes) => {
  expect(spending(starter({ 'scoring.template': 'desktop:00000000-0000-0000-0000-000000000001', ...changes }))[0]).toBe('operation.execution_authorized is false, and this run may cost money; set it to true after reviewing the contract.')
})

function execution(contract: AnyContract, isConfined = true): readonly string[] {
  return checkExecution({ contract, contractSha256: contractDigest(contract), ...facts, isConfined }).map(({ message }) => message)
}

test('a final run needs confined attempts on every route, and a free one may be final', () => {
  const sentence = 'operation.route.final is true, but attempts cannot be confined on this machine; install bubblewrap and allow user namespaces, or set it to false.'
  expect(execution(starter({ 'operation.route.final': true }))).toEqual([])
  expect(execution(starter({ 'operation.route.final': true }), false)).toEqual([sentence])
  expect(execution(authorized(), false)).toEqual([sentence])
  expect(execution(starter(), false)).toEqual([])
})

test('what spending forbids, execution forbids too', () => {
  expect(execution(authorized({ 'operation.execution_authorized': false }))).toEqual(['operation.execution_authorized is false, and this run may cost money; set it to true after reviewing the contract.'])
})
