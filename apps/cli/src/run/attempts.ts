import { hostname } from 'node:os'
import { join } from 'node:path'
import type { AttemptConfig, Connection, Contract, RelayConfigure } from '@osworld-e2b/contracts'
import { needsDrive } from '@osworld-e2b/gates'
import { attemptName, type AttemptIdentity, type AttemptPlan, type CampaignServices } from '@osworld-e2b/scheduler'
import type { RunOptions } from './options.ts'
import { secretConfig } from './secret-places.ts'
import type { SelectedTask } from './selection.ts'

export interface AttemptPlanner {
  readonly options: RunOptions
  readonly contract: Contract
  readonly connection: Connection
  readonly tasks: readonly SelectedTask[]
  readonly profileFolder: string
  readonly runMetadata: Readonly<Record<string, string>>
  /** Number of this start of the run, counted from 1. */
  readonly session: number
}

/** Of the desktop's user, in every template. */
export const clientPassword = 'password'

/**
 * Seconds that a sandbox lives without a heartbeat. Short, so that one whose owner is gone ends soon; elsewhere long enough to outlast a
 * minute in which the API answers nothing.
 */
const sandboxTimeoutSeconds = { local: 60, e2b: 180, 'e2b-compatible': 180 } as const

/** Everything one attempt's two processes are told. */
export function planAttempt(planner: AttemptPlanner, identity: AttemptIdentity, folder: string): AttemptPlan {
  const { task } = selectedTask(planner, identity)
  return {
    config: attemptConfig(planner, identity, folder),
    task: { file: task.file, sha256: task.sha256 },
    relayConfigure: relayConfigure(planner, identity, folder),
    timeoutMs: planner.contract.operation.attempt_timeout_seconds * 1000,
    phaseTimeoutsMs: phaseTimeoutsMs(planner.contract),
    adjustmentsSha256: planner.contract.scoring.adjustments_sha256,
  }
}

function phaseTimeoutsMs({ operation: { phase_timeout_seconds: seconds = {} } }: Contract): NonNullable<AttemptPlan['phaseTimeoutsMs']> {
  return Object.fromEntries(Object.entries(seconds).flatMap(([phase, value]) => (value === undefined ? [] : [[phase, value * 1000]])))
}

function selectedTask({ tasks }: AttemptPlanner, { domain, id }: AttemptIdentity): SelectedTask {
  const selected = tasks.find(({ task: { key } }) => key.domain === domain && key.id === id)
  if (selected === undefined) throw new Error(`The plan names ${domain}/${id}, which is not among the run's tasks.`)
  return selected
}

function attemptConfig(planner: AttemptPlanner, identity: AttemptIdentity, folder: string): AttemptConfig {
  const { options, contract, profileFolder } = planner
  const { task, agent } = selectedTask(planner, identity)
  const { domain, id, trial, attempt } = identity
  return {
    schema_version: 1,
    run_id: options.runId,
    attempt_dir: folder,
    task: { domain, id },
    task_file: join(folder, 'task.json'),
    trial,
    attempt,
    agent,
    max_steps: contract.scoring.max_steps,
    timing: contract.scoring.timing,
    screen: contract.scoring.screen,
    client_password: clientPassword,
    profile_dir: profileFolder,
    record: options.record,
    ...secretConfig(options, { proxy: task.proxy, drive: needsDrive(task.task) }),
    ...(options.assets === undefined ? {} : { assets: options.assets }),
  }
}

function relayConfigure(planner: AttemptPlanner, identity: AttemptIdentity, folder: string): RelayConfigure {
  const { contract, connection } = planner
  return {
    type: 'configure',
    connection,
    template: contract.scoring.template,
    metadata: sandboxMetadata(planner, identity, { host: hostname(), pid: process.pid }),
    sandbox_timeout_seconds: sandboxTimeoutSeconds[connection.route],
    ready_deadline_seconds: contract.operation.ready_deadline_seconds,
    screen: contract.scoring.screen,
    events_file: join(folder, 'relay-events.jsonl'),
  }
}

/** Whose a sandbox is, for whoever lists the account's; `relay-bin` adds the generation within the attempt. */
export function sandboxMetadata(planner: Pick<AttemptPlanner, 'runMetadata' | 'session'>, identity: AttemptIdentity, owner: CampaignServices['owner']): Readonly<Record<string, string>> {
  return { ...planner.runMetadata, session: String(planner.session), attempt: attemptName(identity), owner_host: owner.host, owner_pid: String(owner.pid) }
}
