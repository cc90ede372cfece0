import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { type Contract, contractSchema } from '@osworld-e2b/contracts'
import { sha256File, sha256Hex } from '@osworld-e2b/inventory'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { attemptProcesses, type AttemptProcesses, type AttemptReport, type CampaignInput, type CampaignServices, createRoom, openLedger, runCampaign, systemClock } from '../src/index.ts'
import { processesNaming } from '../src/process-identity.ts'

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))
const sha = 'b'.repeat(64)
const untiedMark = `untied-${process.pid}`
const taskText = '{"id": "a"}'
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scheduler-test-'))
  await writeFile(join(folder, 'source.json'), taskText)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

interface Setup {
  readonly relay?: string
  readonly attempt?: string
  readonly tasks?: readonly string[]
  readonly maxAttempts?: number
  readonly timeoutMs?: number
  readonly remaining?: number
  readonly adjustments?: string
  readonly scorerDrift?: string
  readonly untied?: boolean
}

function contractOf({ tasks = ['a'], maxAttempts = 1 }: Setup): Contract {
  return contractSchema.parse({
    schema_version: 2,
    scoring: {
      profile: 'p',
      suite: 's',
      tasks: tasks.map((id) => ({ domain: 'os', id, task_sha256: sha })),
      trials: 1,
      template: 'base:6f1f5a3e-0000-4000-8000-000000000000',
      agent: { kind: 'none' },
      max_steps: 5,
      timing: 'settled',
      screen: { width: 1920, height: 1080 },
      enable_proxy: false,
      adjustments_sha256: sha,
    },
    operation: {
      route: { kind: 'local', final: false },
      num_envs: 2,
      max_attempts_per_trial: maxAttempts,
      attempt_timeout_seconds: 60,
      ready_deadline_seconds: 60,
      execution_authorized: false,
    },
  })
}

function planAttempt(setup: Setup): AttemptProcesses['planAttempt'] {
  return ({ domain, id, trial, attempt }, attemptFolder) => ({
    timeoutMs: setup.timeoutMs ?? 60_000,
    adjustmentsSha256: setup.adjustments ?? 'a'.repeat(64),
    task: { file: join(folder, 'source.json'), sha256: sha256Hex(taskText) },
    config: {
      schema_version: 1,
      run_id: 'r',
      attempt_dir: attemptFolder,
      task: { domain, id },
      task_file: join(attemptFolder, 'task.json'),
      trial,
      attempt,
      agent: { kind: 'none' },
      max_steps: 5,
      timing: 'settled',
      screen: { width: 1920, height: 1080 },
      client_password: 'password',
      enable_proxy: false,
      profile_dir: '/profile',
      record: false,
    },
    relayConfigure: {
      type: 'configure',
      connection: { route: 'local', api_key: 'k' },
      template: 'base:6f1f5a3e-0000-4000-8000-000000000000',
      metadata: { run: 'r', attempt: `${id}.${attempt}` },
      sandbox_timeout_seconds: 60,
      ready_deadline_seconds: 60,
      screen: { width: 1920, height: 1080 },
      events_file: join(attemptFolder, 'relay-events.jsonl'),
    },
  })
}

async function run(setup: Setup, signal = new AbortController().signal, onEvent: CampaignServices['onEvent'] = () => undefined) {
  const ledgerPath = join(folder, 'attempts.jsonl')
  const ledger = await openLedger(ledgerPath, () => new Date())
  const reports: AttemptReport[] = []
  const command = (args: readonly string[]) => ({ file: process.execPath, args, environment: {}, cwd: folder })
  const untied = (socket: string) => ({
    file: '/bin/sh',
    args: ['-c', 'setsid "$0" "$@" & kill -9 $$', process.execPath, fixture('attempt.mjs'), setup.attempt ?? 'valid', socket, untiedMark],
    environment: {},
    cwd: folder,
  })
  const input: CampaignInput = {
    runId: 'r',
    contract: contractOf(setup),
    ledger,
    backOff: { firstMs: 1, mostMs: 1 },
    labels: { unconfined: false, unverified: false },
  }
  const room = createRoom({ folder, clock: systemClock, signal })
  const processes = attemptProcesses({
    runFolder: folder,
    room,
    planAttempt: planAttempt(setup),
    relayCommand: command([fixture('relay.mjs'), setup.relay ?? 'well']),
    attemptCommand: (_config, socket) => (setup.untied === true ? untied(socket) : command([fixture('attempt.mjs'), setup.attempt ?? 'valid', socket])),
    scorerDrift: () => Promise.resolve(setup.scorerDrift),
    killSandboxes: () => Promise.resolve({ found: 0, killed: 0, remaining: setup.remaining ?? 0 }),
    temporaryFolder: tmpdir(),
    monotonicMs: () => performance.now(),
  })
  const services: CampaignServices = {
    ...processes,
    clock: systemClock,
    room,
    listSandboxes: () => Promise.resolve([]),
    killSandbox: () => Promise.resolve(),
    writeAggregate: (aggregate) => writeFile(join(folder, 'aggregate.json'), JSON.stringify(aggregate)),
    owner: { pid: process.pid, host: 'test' },
    onEvent: (event) => {
      if (event.type === 'attempt_ended') reports.push(event.report)
      onEvent(event)
    },
  }
  const result = await runCampaign(input, services, signal)
  await ledger.close()
  return { result, reports, ledgerPath }
}

test('a valid attempt ends in the ledger, the catalog and the aggregate', async () => {
  const { result, ledgerPath } = await run({})
  expect(result.aggregate).toMatchObject({ complete: true, score_declared: 1, coverage: 1, terminal_attempts: 1 })
  const events = (await readFile(ledgerPath, 'utf8')).trim().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(events.map(({ event }) => event)).toEqual(['RUN_STARTED', 'PLANNED', 'STARTED', 'TERMINAL', 'RUN_ENDED'])
  const attemptFolder = join(folder, 'attempts/os/a/1.1')
  expect(events[3]).toMatchObject({ catalog_sha256: await sha256File(join(attemptFolder, 'artifacts.json')), steps: 2 })
  expect(await readFile(join(attemptFolder, 'stdout.log'), 'utf8')).toContain('noise')
})

test.each([
  ['an attempt that ends without a word', { attempt: 'exit-silently' }, 'runner_exit', undefined],
  ['a reward out of range', { attempt: 'reward-of-two' }, 'runner_exit', 'evaluate'],
  ['a sandbox that cannot be made', { relay: 'create-fails' }, 'sandbox_create_failed', undefined],
  ['a lost guest', { relay: 'loses-guest', attempt: 'await-loss' }, 'guest_lost', undefined],
  ['a relay that dies', { relay: 'dies', attempt: 'await-loss' }, 'relay_failed', undefined],
  ['an attempt with other adjustments than the run', { adjustments: 'c'.repeat(64) }, 'identity_drift', 'evaluate'],
  ['a sandbox that stays behind', { remaining: 1 }, 'cleanup_failed', undefined],
  ['a relay that reports a failed clean-up', { relay: 'fails-to-clean', remaining: 1 }, 'cleanup_failed', undefined],
] as const)('%s gives no score', async (_title, setup, reason, phase) => {
  const { result, reports } = await run(setup)
  expect(reports[0]?.outcome).toMatchObject({ kind: 'invalid', reason, ...(phase === undefined ? {} : { phase }) })
  expect(result.aggregate).toMatchObject({ valid_tasks: 0, score_valid: null, invalid_by_reason: { [reason]: 1 } })
})

test('a sandbox whose desktop never came up was paid for all the same, and one that was never made was not', async () => {
  const { result, reports } = await run({ relay: 'never-ready' })
  expect(reports[0]).toMatchObject({ outcome: { reason: 'guest_not_ready' }, sandboxSeconds: expect.any(Number) as number })
  expect(result.aggregate.used?.sandbox_seconds).toBeGreaterThan(0)
  const other = await run({ relay: 'create-fails', tasks: ['b'] })
  expect(other.reports[0]).not.toHaveProperty('sandboxSeconds')
})

test('an attempt that hangs and ignores being asked is forced to end, as a time-out of its phase', async () => {
  const { reports } = await run({ attempt: 'hang', timeoutMs: 1_000 })
  expect(reports[0]?.outcome).toMatchObject({ kind: 'invalid', reason: 'timeout', phase: 'agent' })
})

test('an attempt whose first process is killed leaves nothing running, also when the rest was not tied to it', async () => {
  const { reports } = await run({ attempt: 'await-loss', untied: true })
  expect(reports[0]?.outcome).toMatchObject({ kind: 'invalid', reason: 'runner_exit' })
  expect(await processesNaming(untiedMark)).toEqual([])
})

test('an infrastructure fault is tried again up to the limit, and tasks run beside each other', async () => {
  const { result } = await run({ relay: 'create-fails', maxAttempts: 3, tasks: ['a', 'b'] })
  expect(result.aggregate).toMatchObject({ planned_attempts: 6, invalid_by_reason: { sandbox_create_failed: 6 } })
})

test('stopping interrupts what runs, and the same folder resumes to the full result', async () => {
  const stop = new AbortController()
  const first = await run({ attempt: 'hang', tasks: ['a', 'b', 'c'] }, stop.signal, ({ type }) => {
    if (type === 'attempt_phase') stop.abort()
  })
  expect(first.result).toMatchObject({ reason: 'interrupted', aggregate: { valid_tasks: 0, complete: false } })
  const second = await run({ tasks: ['a', 'b', 'c'] })
  expect(second.result.aggregate).toMatchObject({ complete: true, valid_tasks: 3, score_declared: 1 })
})

test('an attempt reads its own copy of the task, and a changed task stops the run before anything is started', async () => {
  const stop = new AbortController()
  const first = await run({ attempt: 'hang', tasks: ['a', 'b'] }, stop.signal, ({ type }) => {
    if (type === 'attempt_phase') stop.abort()
  })
  expect(first.result.reason).toBe('interrupted')
  expect(await readFile(join(folder, 'attempts/os/a/1.1/task.json'), 'utf8')).toBe(taskText)
  await writeFile(join(folder, 'source.json'), `${taskText} `)
  const { result, reports, ledgerPath } = await run({ tasks: ['a', 'b', 'c', 'd'] })
  expect(reports[0]?.outcome).toMatchObject({ kind: 'invalid', reason: 'identity_drift', message: expect.stringMatching(/source\.json has changed: its SHA-256 is .* put the file back and resume/) as string })
  expect(reports.length).toBeLessThanOrEqual(2)
  expect(result.aggregate.valid_tasks).toBe(0)
  const last = (await readFile(ledgerPath, 'utf8')).trim().split('\n').at(-1) ?? ''
  expect(JSON.parse(last)).toMatchObject({ event: 'RUN_ENDED', reason: 'identity_drift' })
  await expect(stat(join(folder, 'attempts/os/a/1.2/relay.stderr.log'))).rejects.toThrow('ENOENT')
})

test('a task that is gone is a drift too', async () => {
  await rm(join(folder, 'source.json'))
  const { reports } = await run({})
  expect(reports[0]?.outcome).toMatchObject({ reason: 'identity_drift', message: expect.stringMatching(/source\.json cannot be read any more .* put it back and resume/) as string })
})

test('a scorer that is not what the run was made with ends the run before anything is started', async () => {
  const { result, reports } = await run({ tasks: ['a', 'b', 'c', 'd', 'e'], scorerDrift: 'The evaluators have changed.' })
  expect(reports[0]?.outcome).toEqual({ kind: 'invalid', reason: 'identity_drift', message: 'The evaluators have changed.' })
  expect(reports.length).toBeLessThanOrEqual(2)
  expect(result.aggregate.valid_tasks).toBe(0)
})
