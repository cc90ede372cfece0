import type { AttemptEvent, Cleanup, LedgerEvent, Outcome, TaskKey } from '@osworld-e2b/contracts'
import { AggregationError } from './aggregation-error.ts'
import { nextTotals, noTotals, type RunTotals } from './run-totals.ts'

export interface TrialKey extends TaskKey {
  readonly trial: number
}

export type AttemptState =
  | { readonly phase: 'planned' }
  | { readonly phase: 'started'; readonly pid: number; readonly pidStart: string }
  | {
      readonly phase: 'terminal'
      readonly outcome: Outcome
      readonly cleanup: Cleanup
      readonly seconds: number
      readonly steps: number
      readonly catalogSha256: string | undefined
    }

export interface AttemptRecord {
  readonly attempt: number
  /** Which `RUN_STARTED` it was planned after, counted from 1; a resume is a new one. */
  readonly session: number
  readonly attemptDir: string
  /** When its latest event was written, RFC 3339. */
  readonly since: string
  readonly state: AttemptState
}

export interface TrialRecord {
  readonly key: TrialKey
  /** In order of their numbers, which start at 1 and have no gaps. */
  readonly attempts: readonly AttemptRecord[]
}

/** Everything a run's ledger says, keyed by `trialId`. */
export type RunState = ReadonlyMap<string, TrialRecord>

export interface RunFold {
  /** Live view: it shows every event applied so far. */
  readonly state: RunState
  /** How many times the run was started. */
  readonly session: number
  /** Sums over all attempts and starts so far. */
  readonly totals: RunTotals
  /** Applies one event in constant time; throws `AggregationError` and changes nothing when it is illegal. */
  apply(event: LedgerEvent): void
}

/** Text key of a trial, also used in messages. */
export function trialId(key: TrialKey): string {
  return `${key.domain}/${key.id}#${key.trial}`
}

/** The reward of the trial's valid attempt; there is at most one. */
export function trialReward(trial: TrialRecord | undefined): number | undefined {
  for (const { state } of trial?.attempts ?? []) {
    if (state.phase === 'terminal' && state.outcome.kind === 'valid') return state.outcome.reward
  }
  return undefined
}

/** State after all `events`; throws `AggregationError` at the first that does not follow from the ones before it. */
export function replay(events: Iterable<LedgerEvent>): RunState {
  const fold = createRunFold()
  for (const event of events) fold.apply(event)
  return fold.state
}

/** A fold that takes a ledger event by event. */
export function createRunFold(): RunFold {
  const trials = new Map<string, TrialRecord>()
  let session = 0
  let totals = noTotals
  return {
    state: trials,
    get session() {
      return session
    },
    get totals() {
      return totals
    },
    apply: (event) => {
      if ('attempt' in event) applyAttemptEvent(trials, event, session)
      if (event.event === 'RUN_STARTED') session += 1
      totals = nextTotals(totals, event)
    },
  }
}

function applyAttemptEvent(state: Map<string, TrialRecord>, event: AttemptEvent, session: number): void {
  const key = { domain: event.domain, id: event.task_id, trial: event.trial }
  const trial = state.get(trialId(key)) ?? { key, attempts: [] }
  state.set(trialId(key), { key, attempts: nextAttempts(trial, event, session) })
}

function nextAttempts(trial: TrialRecord, event: AttemptEvent, session: number): readonly AttemptRecord[] {
  const last = trial.attempts.at(-1)
  if (event.event === 'PLANNED') {
    const isOpen = last !== undefined && last.state.phase !== 'terminal'
    if (isOpen || trialReward(trial) !== undefined || event.attempt !== trial.attempts.length + 1) throw illegal(trial, event)
    return [
      ...trial.attempts,
      { attempt: event.attempt, session, attemptDir: event.attempt_dir, since: event.timestamp, state: { phase: 'planned' } },
    ]
  }
  if (last?.attempt !== event.attempt || last.state.phase === 'terminal') throw illegal(trial, event)
  if (event.event === 'STARTED' && last.state.phase !== 'planned') throw illegal(trial, event)
  return [...trial.attempts.slice(0, -1), { ...last, since: event.timestamp, state: stateAfter(event) }]
}

function stateAfter(event: Exclude<AttemptEvent, { event: 'PLANNED' }>): AttemptState {
  if (event.event === 'STARTED') return { phase: 'started', pid: event.pid, pidStart: event.pid_start }
  const { outcome, cleanup, seconds, steps, catalog_sha256: catalogSha256 } = event
  return { phase: 'terminal', outcome, cleanup, seconds, steps, catalogSha256 }
}

function illegal(trial: TrialRecord, event: AttemptEvent): AggregationError {
  const last = trial.attempts.at(-1)
  const before = last === undefined ? 'nothing' : `attempt ${last.attempt} ${last.state.phase}`
  return new AggregationError(
    'illegal_transition',
    `The ledger has ${event.event} of ${trialId(trial.key)} attempt ${event.attempt} after ${before}; it was edited or written by two owners. Keep the folder and start a new run.`,
  )
}
