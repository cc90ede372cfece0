import { doctorCheckSchema, parseDocument } from '@osworld-e2b/contracts'
import { describe, expect, test } from 'vitest'
import { fullSuite, starter } from '../test/examples.ts'
import type { AccountFacts } from './account-facts.ts'
import { checkAccount } from './check-account.ts'

const gib = 2 ** 30
const unknown = { state: 'unknown', problem: 'does not answer within 10 s' } as const
const build = 'Build it with `nx run template-builder:build` in this account, and write the printed name:build_id to scoring.template.'
const reference = 'osworld-gnome-example:00000000-0000-0000-0000-000000000001'

const healthy: AccountFacts = {
  contract: fullSuite({ 'operation.endpoints': [{ label: 'QWEN_BASE_URL', api_key_variable: 'QWEN_API_KEY' }] }),
  key: { state: 'accepted' },
  template: { state: 'found' },
  sandboxes: { state: 'known', limit: 20, running: 3 },
  endpoints: [{ label: 'QWEN_BASE_URL', answer: { state: 'answers' } }],
  hasAgentUrl: false,
  proxies: [
    { entry: 1, answer: { state: 'answers' } },
    { entry: 2, answer: { state: 'answers' } },
  ],
  hostTools: [{ name: 'ffmpeg', taskCount: 4, isFound: true, package: 'ffmpeg' }],
  disk: { freeBytes: 50 * gib, neededBytes: 40 * gib },
  memory: { freeBytes: 8 * gib, neededBytes: 2.5 * gib },
  clockSkewMs: 400,
}

test('an account that has all of it is told line by line', () => {
  const checks = checkAccount(healthy)
  expect(checks.map(({ status, need, found }) => `${status} ${need}: ${found}`)).toEqual([
    'ok key of route e2b: accepted',
    `ok template of the contract: ${reference} is there`,
    'ok sandboxes at a time: 20 allowed, 3 running, 8 wanted',
    'ok model endpoint QWEN_BASE_URL: answers',
    'ok proxy: 2 of 2 in the proxy file answer',
    'ok host tool ffmpeg: there, called by the evaluators of 4 selected tasks',
    'ok disk for the campaign: 50.0 GiB free, 40.0 GiB needed',
    'ok memory for the campaign: 8.0 GiB free, 2.5 GiB needed',
    "ok clock: the same as the API's",
  ])
  for (const check of checks) expect(parseDocument(doctorCheckSchema, 'a line', check)).toEqual(check)
})

test('a local campaign with scripts asks for no account, endpoint or proxy', () => {
  expect(checkAccount({ ...healthy, contract: starter() }).map(({ need }) => need)).toEqual(['host tool ffmpeg', 'disk for the campaign', 'memory for the campaign'])
})

describe('what is missing, and its remedy:', () => {
  const cases: [Partial<AccountFacts>, status: 'missing' | 'warning', found: string, remedy: string][] = [
    [{ key: { state: 'absent' } }, 'missing', 'E2B_API_KEY is not set', 'Set E2B_API_KEY to a key of the account that pays.'],
    [{ key: { state: 'refused' } }, 'missing', 'E2B_API_KEY is refused', 'Make a new key in the account and set E2B_API_KEY to it.'],
    [{ key: unknown }, 'missing', 'not known: the API does not answer within 10 s', 'Correct the address or the network, and ask again.'],
    [{ template: { state: 'no_such_name' } }, 'missing', `the account has no template of the name in ${reference}`, build],
    [{ template: { state: 'no_such_build' } }, 'missing', `the account has the template of ${reference}, but not that build of it`, build],
    [{ template: { state: 'not_named' } }, 'missing', 'the contract names none', build],
    [{ template: unknown }, 'missing', 'not known: the API does not answer within 10 s', 'Correct the address or the network, and ask again.'],
    [{ sandboxes: { state: 'known', limit: 10, running: 3 } }, 'missing', '10 allowed, 3 running, 8 wanted', 'Write operation.num_envs 7, stop sandboxes that nobody needs, or raise the limit of the account.'],
    [{ sandboxes: { state: 'known', limit: 10, running: 12 } }, 'missing', '10 allowed, 12 running, 8 wanted', 'Stop sandboxes that nobody needs, or raise the limit of the account.'],
    [{ sandboxes: { state: 'unknown', problem: 'does not tell its limit' } }, 'warning', 'not known: the account does not tell its limit', "See in the account's dashboard that it allows 8."],
    [{ endpoints: [] }, 'missing', 'the contract names none', 'Name in operation.endpoints the environment variable with the address of one.'],
    [{ endpoints: [{ label: 'QWEN_BASE_URL', answer: { state: 'unset' } }] }, 'missing', 'the environment variable is not set', "Set QWEN_BASE_URL to the endpoint's address."],
    [{ endpoints: [{ label: 'QWEN_BASE_URL', answer: { state: 'key_unset' } }] }, 'missing', 'QWEN_API_KEY is not set', "Set QWEN_API_KEY to the endpoint's key."],
    [{ endpoints: [{ label: 'QWEN_BASE_URL', answer: { state: 'key_wanted' } }] }, 'missing', 'wants a key', 'Name the environment variable that holds it in api_key_variable of QWEN_BASE_URL.'],
    [{ endpoints: [{ label: 'QWEN_BASE_URL', answer: { state: 'key_refused' } }] }, 'missing', 'refuses QWEN_API_KEY', 'Set QWEN_API_KEY to a key that the endpoint accepts.'],
    [{ endpoints: [{ label: 'QWEN_BASE_URL', answer: unknown }] }, 'missing', 'not known: the endpoint does not answer within 10 s', 'Correct the address or the network, and ask again.'],
    [{ proxies: [{ entry: 1, answer: { state: 'refused_login' } }, { entry: 2, answer: { state: 'answers' } }] }, 'warning', '1 of 2 in the proxy file answers', 'Correct the proxy file: entry 1 refuses its user and password.'],
    [{ proxies: [{ entry: 1, answer: unknown }] }, 'missing', '0 of 1 in the proxy file answer', 'Correct the proxy file: entry 1 does not answer within 10 s.'],
    [{ hostTools: [{ name: 'pdftoppm', taskCount: 1, isFound: false, package: 'poppler-utils' }] }, 'missing', 'not found, called by the evaluators of 1 selected task', 'apt-get install poppler-utils (as root)'],
    [{ disk: { freeBytes: gib, neededBytes: 1.5 * gib } }, 'missing', '1.0 GiB free, 1.5 GiB needed', 'Free some disk space there, such as by `osworld clean`, or name another place with --results.'],
    [{ memory: { freeBytes: gib, neededBytes: 1.5 * gib } }, 'missing', '1.0 GiB free, 1.5 GiB needed', 'Write a smaller operation.num_envs, close other programs, or use a machine with more memory.'],
    [{ clockSkewMs: 61_000 }, 'missing', "61 seconds ahead of the API's", 'Set the clock, such as by `timedatectl set-ntp true` (as root).'],
    [{ clockSkewMs: -3_600_000 }, 'missing', "3,600 seconds behind the API's", 'Set the clock, such as by `timedatectl set-ntp true` (as root).'],
    [{ clockSkewMs: null }, 'warning', 'not known: no answer of the API told its time', 'See that this machine takes its time from the network.'],
  ]

  test.each(cases)('%o', (change, status, found, remedy) => {
    const worse = checkAccount({ ...healthy, ...change }).filter((check) => check.status !== 'ok')
    expect(worse).toEqual([expect.objectContaining({ status, found, remedy })])
    expect(parseDocument(doctorCheckSchema, 'a line', worse[0])).toEqual(worse[0])
  })
})

describe('an agent that is asked over HTTP', () => {
  const line = (variable: string | undefined, hasAgentUrl: boolean) => {
    const contract = starter({ 'scoring.agent': { kind: 'http', name: 'theirs', settings: {} }, 'operation.agent_url_variable': variable })
    return checkAccount({ ...healthy, contract, hasAgentUrl }).filter(({ need }) => /agent|endpoint/.test(need))
  }

  test('needs an address, and endpoints only where the contract names some', () => {
    expect(line('AGENT_URL', true)).toEqual([{ status: 'ok', need: 'agent theirs', found: 'its address is known', required: true }])
  })

  test.each([
    ['AGENT_URL', "Set AGENT_URL to the agent's address, or give it to the run with --agent-url."],
    [undefined, 'Name the environment variable that holds it in operation.agent_url_variable, or give it to the run with --agent-url.'],
  ])('without an address in %s is told how to give it', (variable, remedy) => {
    expect(line(variable, false)).toEqual([{ status: 'missing', need: 'agent theirs', found: 'its address is not known', required: true, remedy }])
  })
})
