import { appendFileSync, readFileSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { contractSchema, type LedgerEvent } from '@osworld-e2b/contracts'
import { sha256Hex } from '@osworld-e2b/inventory'
import { acquireRunLock, attemptName, attemptProcesses, createRoom, type Ledger, makeRunTemporaryFolder, openLedger, runCampaign, systemClock } from '../src/index.ts'

/**
 * A coordinator that kills itself. Arguments: the run folder, the folder of the programs that it starts, how it dies, and at the append of
 * which number; with its relays it dies when an attempt has its sandbox.
 */
const [runFolder = '', programs = '', death = 'never', at = '0'] = process.argv.slice(2)

/** Each task with its reward. */
const rewards: Readonly<Record<string, number>> = { a: 1, b: 0.25 }
const taskText = '{}'
const sha = 'a'.repeat(64)
const template = 'base:6f1f5a3e-0000-4000-8000-000000000000'
const screen = { width: 1920, height: 1080 }
const sandboxes = join(runFolder, 'sandboxes')
const ledgerPath = join(runFolder, 'attempts.jsonl')

function die(): never {
  process.kill(process.pid, 'SIGKILL')
  throw new Error('A process outlived SIGKILL.')
}

/** Children first, so that none of them has the time to clean up. */
function dieWithRelays(): never {
  for (const pid of readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean)) {
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('killed-relay.mjs')) process.kill(Number(pid), 'SIGKILL')
  }
  die()
}

function mortal(ledger: Ledger): Ledger {
  let appended = 0
  return {
    ...ledger,
    append: async (event: LedgerEvent) => {
      appended += 1
      const isTheOne = appended === Number(at)
      if (isTheOne && death === 'before') die()
      if (isTheOne && death === 'torn') {
        appendFileSync(ledgerPath, JSON.stringify(event).slice(0, 40))
        die()
      }
      await ledger.append(event)
      if (isTheOne && death === 'garbage') {
        appendFileSync(ledgerPath, Buffer.from([0, 0, 0xff, 0x7b, 0x22]))
        die()
      }
      if (isTheOne && death === 'after') die()
    },
  }
}

const contract = contractSchema.parse({
  schema_version: 2,
  scoring: {
    profile: 'p',
    suite: 's',
    tasks: Object.keys(rewards).map((id) => ({ domain: 'os', id, task_sha256: sha256Hex(taskText) })),
    trials: 1,
    template,
    agent: { kind: 'none' },
    max_steps: 5,
    timing: 'settled',
    screen,
    enable_proxy: false,
    adjustments_sha256: sha,
  },
  operation: {
    route: { kind: 'local', final: false },
    num_envs: 2,
    max_attempts_per_trial: 1,
    attempt_timeout_seconds: 60,
    ready_deadline_seconds: 60,
    launches_per_second: 100,
    execution_authorized: false,
  },
})

await mkdir(sandboxes, { recursive: true })
await mkdir(join(runFolder, 'tmp'), { recursive: true })
await writeFile(join(runFolder, 'task.json'), taskText)
const lock = await acquireRunLock(join(runFolder, 'run.lock'), { pid: process.pid, now: new Date() })
const temporary = await makeRunTemporaryFolder(join(runFolder, 'tmp'), process.pid)
const ledger = await openLedger(ledgerPath, () => new Date())
const stop = new AbortController().signal
const room = createRoom({ folder: runFolder, clock: systemClock, signal: stop })
const command = (program: string, args: readonly string[]) => ({ file: process.execPath, args: [join(programs, program), ...args], environment: {}, cwd: runFolder })

await runCampaign(
  { runId: 'r', contract, ledger: mortal(ledger), labels: { unconfined: false, unverified: false } },
  {
    ...attemptProcesses({
      runFolder,
      room,
      planAttempt: (identity, folder) => ({
        timeoutMs: 60_000,
        adjustmentsSha256: sha,
        task: { file: join(runFolder, 'task.json'), sha256: sha256Hex(taskText) },
        config: {
          schema_version: 1,
          run_id: 'r',
          attempt_dir: folder,
          task: { domain: identity.domain, id: identity.id },
          task_file: join(folder, 'task.json'),
          trial: identity.trial,
          attempt: identity.attempt,
          agent: { kind: 'none' },
          max_steps: 5,
          timing: 'settled',
          screen,
          client_password: 'password',
          enable_proxy: false,
          profile_dir: '/profile',
          record: false,
        },
        relayConfigure: {
          type: 'configure',
          connection: { route: 'local', api_key: 'k' },
          template,
          metadata: { run: 'r', attempt: attemptName(identity) },
          sandbox_timeout_seconds: 60,
          ready_deadline_seconds: 60,
          screen,
          events_file: join(folder, 'relay-events.jsonl'),
        },
      }),
      relayCommand: command('killed-relay.mjs', [sandboxes]),
      attemptCommand: ({ task }, socket) => command('killed-attempt.mjs', [socket, String(rewards[task.id])]),
      killSandboxes: () => Promise.resolve({ found: 0, killed: 0, remaining: 0 }),
      temporaryFolder: temporary.path,
      monotonicMs: () => performance.now(),
    }),
    clock: systemClock,
    room,
    listSandboxes: async () => (await readdir(sandboxes)).map((id) => ({ id, attempt: undefined })),
    killSandbox: (id) => rm(join(sandboxes, id), { force: true }),
    writeAggregate: (aggregate) => writeFile(join(runFolder, 'aggregate.json'), JSON.stringify(aggregate)),
    onEvent: ({ type }) => {
      if (type === 'attempt_phase' && death === 'with its relays') dieWithRelays()
    },
    owner: { pid: process.pid, host: hostname() },
  },
  stop,
)
await ledger.close()
await temporary.remove()
await lock.release()
