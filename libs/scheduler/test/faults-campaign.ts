import { writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { type Contract, contractSchema } from '@osworld-e2b/contracts'
import { sha256Hex, writeJsonAtomic } from '@osworld-e2b/inventory'
import { attemptName, attemptProcesses, type AttemptPlan, type AttemptProcesses, type CampaignInput, type CampaignServices, type ChildCommand, type Ledger, type Room, systemClock } from '../src/index.ts'

/** How the attempts of one task behave: an entry an attempt, of which the last stands for all that follow. */
export interface FaultyTask {
  readonly id: string
  readonly relays?: readonly string[]
  readonly attempts?: readonly string[]
}

export interface FaultySetup {
  readonly runFolder: string
  /** Folder of the programs that stand for relays and attempts. */
  readonly programs: string
  readonly temporaryFolder: string
  readonly tasks: readonly FaultyTask[]
  readonly numEnvs?: number
  readonly maxAttempts?: number
  readonly phaseTimeoutsMs?: AttemptPlan['phaseTimeoutsMs']
  readonly backOffMs?: number
  /** A task that throws when its attempt is planned. */
  readonly unplannable?: string
}

export interface FaultyWorld {
  readonly ledger: Ledger
  readonly room: Room
  readonly onEvent?: CampaignServices['onEvent']
  /** What a test puts in the place of a part. */
  readonly parts?: Partial<AttemptProcesses>
}

const taskText = '{}'
const taskSha256 = sha256Hex(taskText)
const adjustmentsSha256 = 'a'.repeat(64)
const template = 'base:6f1f5a3e-0000-4000-8000-000000000000'
const screen = { width: 1920, height: 1080 }

/** Writes what a campaign finds in its folder. */
export async function writeTask(runFolder: string): Promise<void> {
  await writeFile(taskFile(runFolder), taskText)
}

/** A campaign of real processes that stand for relays and attempts. */
export function faultyCampaign(setup: FaultySetup, world: FaultyWorld): { readonly input: CampaignInput; readonly services: CampaignServices } {
  const { runFolder, backOffMs = 1 } = setup
  const { ledger, room, onEvent = () => undefined } = world
  return {
    input: { runId: 'r', contract: contractOf(setup), ledger, backOff: { firstMs: backOffMs, mostMs: backOffMs }, labels: { unconfined: false, unverified: false } },
    services: {
      ...attemptProcesses({ ...processes(setup, room), ...world.parts }),
      clock: systemClock,
      room,
      listSandboxes: () => Promise.resolve([]),
      killSandbox: () => Promise.resolve(),
      writeAggregate: (aggregate) => writeJsonAtomic(join(runFolder, 'aggregate.json'), aggregate),
      onEvent,
      owner: { pid: process.pid, host: hostname() },
    },
  }
}

export function programCommand({ programs, runFolder }: Pick<FaultySetup, 'programs' | 'runFolder'>, program: string, args: readonly string[]): ChildCommand {
  return { file: process.execPath, args: [join(programs, 'fixtures', program), ...args], environment: {}, cwd: runFolder }
}

/** What the task's attempt of that number does. */
export function attemptMode(setup: FaultySetup, id: string, attempt: number): string {
  return entry(taskOf(setup, id).attempts, attempt) ?? 'valid'
}

function processes(setup: FaultySetup, room: Room): AttemptProcesses {
  return {
    runFolder: setup.runFolder,
    room,
    planAttempt: (identity, folder) => planOf(setup, identity, folder),
    relayCommand: programCommand(setup, 'faulty-relay.mjs', []),
    attemptCommand: ({ task, attempt, attempt_dir: folder }, socket) => programCommand(setup, 'faulty-attempt.mjs', [attemptMode(setup, task.id, attempt), socket, folder]),
    killSandboxes: () => Promise.resolve({ found: 0, killed: 0, remaining: 0 }),
    temporaryFolder: setup.temporaryFolder,
    monotonicMs: () => performance.now(),
  }
}

function planOf(setup: FaultySetup, identity: Parameters<AttemptProcesses['planAttempt']>[0], folder: string): AttemptPlan {
  const { domain, id, trial, attempt } = identity
  if (id === setup.unplannable) throw new Error('There is no plan for it.')
  return {
    timeoutMs: 60_000,
    ...(setup.phaseTimeoutsMs === undefined ? {} : { phaseTimeoutsMs: setup.phaseTimeoutsMs }),
    adjustmentsSha256,
    task: { file: taskFile(setup.runFolder), sha256: taskSha256 },
    config: {
      schema_version: 1,
      run_id: 'r',
      attempt_dir: folder,
      task: { domain, id },
      task_file: join(folder, 'task.json'),
      trial,
      attempt,
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
      metadata: { run: 'r', attempt: attemptName(identity), mode: entry(taskOf(setup, id).relays, attempt) ?? 'well' },
      sandbox_timeout_seconds: 60,
      ready_deadline_seconds: 60,
      screen,
      events_file: join(folder, 'relay-events.jsonl'),
    },
  }
}

function contractOf({ tasks, numEnvs = 2, maxAttempts = 1 }: FaultySetup): Contract {
  return contractSchema.parse({
    schema_version: 2,
    scoring: {
      profile: 'p',
      suite: 's',
      tasks: tasks.map(({ id }) => ({ domain: 'os', id, task_sha256: taskSha256 })),
      trials: 1,
      template,
      agent: { kind: 'none' },
      max_steps: 5,
      timing: 'settled',
      screen,
      enable_proxy: false,
      adjustments_sha256: adjustmentsSha256,
    },
    operation: {
      route: { kind: 'local', final: false },
      num_envs: numEnvs,
      max_attempts_per_trial: maxAttempts,
      attempt_timeout_seconds: 60,
      ready_deadline_seconds: 60,
      launches_per_second: 100,
      execution_authorized: false,
    },
  })
}

function taskOf({ tasks }: FaultySetup, id: string): FaultyTask {
  const task = tasks.find((one) => one.id === id)
  if (task === undefined) throw new Error(`The test has no task ${id}.`)
  return task
}

function entry(entries: readonly string[] | undefined, attempt: number): string | undefined {
  return entries?.[Math.min(attempt, entries.length) - 1]
}

function taskFile(runFolder: string): string {
  return join(runFolder, 'task.json')
}
