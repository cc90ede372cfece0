import { join } from 'node:path'
import { type Contract, type ContractFile, contractFileSchema, contractSchema } from '@osworld-e2b/contracts'
import { describe, expect, test } from 'vitest'
import { workspace } from '../workspace.ts'
import type { RunArguments } from './arguments.ts'
import { parseRunOptions } from './options.ts'
import type { Recorded } from './recorded.ts'

function parse(given: Partial<RunArguments>, recorded?: Recorded, contract?: ContractFile) {
  return parseRunOptions(
    { record: true, ...given },
    { environment: { HOME: '/home/somebody' }, now: new Date('2026-11-30T01:02:03.456Z'), machine: { cores: 16, availableBytes: 2 ** 36 }, recorded, contract, prices: { schema_version: 1, models: {} } },
  )
}

test('without any flag it is the starter suite, scripted, in a new run folder, with sandboxes in the user\'s cache', () => {
  const options = parse({})
  expect(options).toMatchObject({
    source: { kind: 'suite', folder: join(workspace.suites, 'starter') },
    selection: [],
    agent: 'scripted',
    scripts: 'solve',
    numEnvs: { count: 8 },
    trials: 1,
    timing: 'settled',
    dataFolder: '/home/somebody/.cache/osworld-e2b/local-e2b',
  })
  expect(options.runId).toMatch(/^20261130T010203Z-[0-9a-f]{8}$/)
})

test.each([
  [{ suite: 'starter', tasks: 'tasks' }, /--suite and --tasks exclude each other/],
  [{ suite: '' }, /--suite needs a name/],
  [{ onInterrupt: 'stop' }, /--on-interrupt stop is unknown; it takes cancel or drain\./],
  [{ sandboxHourUsd: 'much' }, /--sandbox-hour-usd much is not a price in dollars, such as 0\.17\./],
  [{ timing: 'fast' }, /--timing fast is unknown/],
  [{ numEnvs: '0' }, /--num-envs 0 is not a whole number/],
  [{ numEnvs: '100' }, /100 environments at a time need at least 100 GiB of memory/],
  [{ trials: '1.5' }, /--trials 1\.5 is not a whole number/],
  [{ trials: '0x2' }, /--trials 0x2 is not a whole number/],
  [{ attemptTimeout: '3000000' }, /--attempt-timeout 3000000 is not a whole number from 1 to 86400/],
  [{ runId: '../elsewhere' }, /is not a plain folder name/],
  [{ template: 'osworld:latest' }, /--template osworld:latest is not name:build_id/],
  [{ failedOf: 'run', task: ['os/a'] }, /--failed-of and --task exclude each other/],
] as const)('%o is refused in a sentence that names the flag', (change, sentence) => {
  expect(() => parse(change)).toThrow(sentence)
})

const sha = 'a'.repeat(64)
const contract: Contract = contractSchema.parse({
  schema_version: 2,
  scoring: {
    profile: 'package-1.0.2',
    suite: 'mine',
    tasks: [{ domain: 'os', id: 'a', task_sha256: sha }, { domain: 'vlc', id: 'b', task_sha256: sha }],
    trials: 3,
    template: 'osworld:6f1f5a3e-0000-4000-8000-000000000000',
    agent: { kind: 'scripted', scripts: 'miss', scripts_sha256: sha },
    max_steps: 7,
    timing: 'upstream',
    screen: { width: 1920, height: 1080 },
    enable_proxy: false,
    adjustments_sha256: sha,
  },
  operation: {
    route: { kind: 'local', final: false },
    num_envs: 3,
    max_attempts_per_trial: 2,
    attempt_timeout_seconds: 60,
    ready_deadline_seconds: 60,
    execution_authorized: false,
    source: { kind: 'suite', folder: '/suites/mine' },
    scripts_folder: '/suites/mine/scripts/miss',
  },
})

describe('a run that is resumed', () => {
  const recorded: Recorded = { contract, tasks: ['os/a', 'vlc/b'], isResumed: true }

  test('goes on with the settings it has', () => {
    expect(parse({ runId: 'r' }, recorded)).toMatchObject({
      source: { kind: 'suite', folder: '/suites/mine' },
      selection: ['os/a', 'vlc/b'],
      scripts: '/suites/mine/scripts/miss',
      numEnvs: { count: 3 },
      trials: 3,
      maxSteps: 7,
      maxAttempts: 2,
      attemptTimeoutSeconds: 60,
      timing: 'upstream',
      template: contract.scoring.template,
    })
  })

  test('takes what is typed before what it has', () => {
    expect(parse({ runId: 'r', numEnvs: '5', agent: 'none', task: ['os/a'] }, recorded)).toMatchObject({ numEnvs: { count: 5 }, agent: 'none', selection: ['os/a'] })
  })
})

describe('the failed tasks of a run', () => {
  const recorded: Recorded = { contract, tasks: ['vlc/b'], isResumed: false }

  test('are a new run with its settings, on the template and the machine of now', () => {
    expect(parse({ failedOf: 'r' }, recorded)).toMatchObject({ selection: ['vlc/b'], trials: 3, template: undefined, numEnvs: { count: 8 } })
  })

  test('are narrowed by --domain, which must leave some', () => {
    expect(parse({ failedOf: 'r', domain: ['vlc'] }, recorded).selection).toEqual(['vlc/b'])
    expect(() => parse({ failedOf: 'r', domain: ['os'] }, recorded)).toThrow(/--domain os: none of the tasks to run is in that domain; they are vlc\/b/)
  })
})

describe('a run with a contract', () => {
  const written = contractFileSchema.parse({
    schema_version: 2,
    scoring: {
      profile: 'current-v1',
      suite: 'gdrive',
      selection: ['multi_apps/a'],
      agent: { kind: 'upstream_runner', runner: 'scripts/python/run.py', model: 'm', settings: {} },
      max_steps: 50,
      timing: 'upstream',
      template: 'osworld:6f1f5a3e-0000-4000-8000-000000000000',
      enable_proxy: true,
    },
    operation: { route: { kind: 'e2b', final: true }, num_envs: 20, attempt_timeout_seconds: 900 },
  })

  test('is what the contract says, and its desktops are not capped by this machine', () => {
    expect(parse({}, undefined, written)).toMatchObject({
      source: { kind: 'profile' },
      suite: 'gdrive',
      selection: ['multi_apps/a'],
      agent: 'upstream_runner',
      numEnvs: { count: 20 },
      maxSteps: 50,
      maxAttempts: 3,
      attemptTimeoutSeconds: 900,
      timing: 'upstream',
      template: 'osworld:6f1f5a3e-0000-4000-8000-000000000000',
      profile: 'current-v1',
      route: { kind: 'e2b', final: true },
      enableProxy: true,
    })
  })

  test('may run fewer desktops at a time, and not more', () => {
    expect(parse({ numEnvs: '4' }, undefined, written).numEnvs.count).toBe(4)
    expect(() => parse({ numEnvs: '21' }, undefined, written)).toThrow('--num-envs 21 is more than the 20 that the contract allows; give 20 or fewer.')
  })

  test.each([
    [{ maxSteps: '5' }, '--max-steps'],
    [{ endpoint: ['QWEN_BASE_URL'] }, '--endpoint'],
    [{ model: 'dearer' }, '--model'],
    [{ budgetUsd: '45' }, '--budget-usd'],
    [{ keepModelContent: true }, '--keep-model-content'],
    [{ agentTimeout: '5' }, '--agent-timeout'],
    [{ task: ['os/a'] }, '--task'],
    [{ maxAttempts: '9' }, '--max-attempts'],
    [{ profile: 'package-1.0.2' }, '--profile'],
  ] as const)('takes no %o beside it', (given, flag) => {
    expect(() => parse(given, undefined, written)).toThrow(`${flag} and --contract exclude each other: the contract decides it, so write it there.`)
  })
})

test('assets are served from the folder that is named, else from the cache, and --offline alone means the cache', () => {
  expect(parse({}).assets).toBeUndefined()
  expect(parse({ assets: '/files' }).assets).toEqual({ folder: '/files', offline: false })
  expect(parse({ offline: true }).assets).toEqual({ folder: '/home/somebody/.cache/osworld-e2b/assets', offline: true })
})

test('a pinned source brings its own suites', () => {
  expect(parse({ profile: 'current-v1' })).toMatchObject({ source: { kind: 'profile' }, suite: 'nogdrive' })
})

test('a contract brings its limits, its agent and the price of its route', () => {
  const written = contractFileSchema.parse({
    schema_version: 2,
    scoring: { profile: 'package-1.0.2', suite: 'starter', agent: { kind: 'http', name: 'theirs', settings: {} }, max_steps: 5 },
    operation: { route: { kind: 'e2b', final: true }, num_envs: 2, attempt_timeout_seconds: 600, endpoints: [{ label: 'QWEN_BASE_URL' }], budget: { model_tokens: 5 }, agent_url_variable: 'AGENT_URL' },
  })
  const environment = { HOME: '/home/somebody', AGENT_URL: 'http://127.0.0.1:9100' }
  const context = { environment, now: new Date(), machine: { cores: 1, availableBytes: 2 ** 36 }, recorded: undefined, contract: written, prices: { schema_version: 1 as const, models: {} } }
  expect(parseRunOptions({ record: true }, context)).toMatchObject({
    agent: 'http',
    writtenAgent: written.scoring.agent,
    agentUrl: 'http://127.0.0.1:9100',
    limits: { endpoints: [{ label: 'QWEN_BASE_URL' }], budget: { model_tokens: 5 } },
    prices: { sandboxHourUsd: 0.3312, modelRequestUsd: null },
  })
  expect(parseRunOptions({ record: true, agentUrl: 'https://other.example', sandboxHourUsd: '0.5' }, context)).toMatchObject({ agentUrl: 'https://other.example', prices: { sandboxHourUsd: 0.5 } })
  expect(() => parseRunOptions({ record: true, contract: 'c.json', writeContract: 'd.json' }, context)).toThrow('--write-contract and --contract exclude each other: the contract is written already.')
})
