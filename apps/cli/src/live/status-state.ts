import { retryAllowance, type RunState, trialReward } from '@osworld-e2b/aggregation'
import type { Outcome, PauseReason, Phase, RunStatus } from '@osworld-e2b/contracts'
import type { AttemptIdentity } from '@osworld-e2b/scheduler'

/** What does not change while a start of a run lasts. */
export interface StatusPlan {
  readonly runId: string
  /** Unix milliseconds. */
  readonly startedMs: number
  /** Trials: tasks times repeats. */
  readonly planned: number
  readonly numEnvs: number
  readonly maxSteps: number
  readonly maxAttemptsPerTrial: number
  /** US dollars of one sandbox for one hour; null when nobody said. */
  readonly sandboxHourUsd: number | null
  readonly before: EarlierStarts
}

/** What earlier starts of the run left. */
export interface EarlierStarts {
  readonly valid: number
  /** Trials without a score that no start tries again. */
  readonly failed: number
  readonly rewardSum: number
  /** US dollars; null is unknown. */
  readonly costUsd: number | null
}

export interface RunningAttempt {
  readonly identity: AttemptIdentity
  readonly startedMs: number
  readonly phase: Phase | null
  readonly step: number
}

/** Attempts of this start at a trial that has no score yet. */
interface Failures {
  readonly outcomes: readonly Outcome[]
  readonly isFinal: boolean
}

export interface StatusState {
  readonly plan: StatusPlan
  /** By `trialId`. */
  readonly running: ReadonlyMap<string, RunningAttempt>
  readonly failures: ReadonlyMap<string, Failures>
  /** Of this start alone. */
  readonly valid: number
  readonly rewardSum: number
  readonly ended: { readonly attempts: number; readonly seconds: number; readonly costUsd: number | null }
  readonly pauses: ReadonlyMap<PauseReason, string>
  readonly pausedSinceMs: number | undefined
  readonly pausedMs: number
  readonly stage: 'running' | 'draining' | 'stopping' | 'ended'
  readonly events: RunStatus['events']
}

export function initialStatus(plan: StatusPlan): StatusState {
  return {
    plan,
    running: new Map(),
    failures: new Map(),
    valid: 0,
    rewardSum: 0,
    ended: { attempts: 0, seconds: 0, costUsd: 0 },
    pauses: new Map(),
    pausedSinceMs: undefined,
    pausedMs: 0,
    stage: 'running',
    events: [],
  }
}

/** The counts of a ledger before a start of the run, whose cost so far is `costUsd`. */
export function earlierStarts(recorded: RunState, costUsd: number | null): EarlierStarts {
  const trials = [...recorded.values()]
  const rewards = trials.map(trialReward).filter((reward) => reward !== undefined)
  const isGivenUp = ({ attempts }: (typeof trials)[number]) => attempts.some(({ state }) => state.phase === 'terminal' && state.outcome.kind === 'invalid' && retryAllowance(state.outcome) === 'never')
  const failed = trials.filter((trial) => trialReward(trial) === undefined && isGivenUp(trial)).length
  return { valid: rewards.length, failed, rewardSum: rewards.reduce((sum, reward) => sum + reward, 0), costUsd }
}

/** The owner leaves in order: what has no score now gets none from this start. */
export function endStatus(state: StatusState): StatusState {
  return { ...state, stage: 'ended', running: new Map(), pauses: new Map() }
}

/** Trials that this start gave up; once it launches nothing more, all that have no score and do not run. */
export function failedNow({ failures, stage }: StatusState): number {
  return stage === 'running' ? [...failures.values()].filter(({ isFinal }) => isFinal).length : failures.size
}
