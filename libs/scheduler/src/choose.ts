import { retryAllowance, type RunState, trialId, type TrialKey, type TrialRecord, trialReward } from '@osworld-e2b/aggregation'
import type { TaskKey } from '@osworld-e2b/contracts'
import { type BackOff, notBefore } from './back-off.ts'

export interface Plan {
  readonly tasks: readonly TaskKey[]
  readonly trials: number
}

export interface Limits {
  readonly numEnvs: number
  readonly maxAttemptsPerTrial: number
}

export type Decision =
  | { readonly kind: 'start'; readonly trial: TrialKey; readonly attempt: number }
  /** For a running attempt to end, or until a time (Unix milliseconds) at which a trial may be tried again. */
  | { readonly kind: 'wait'; readonly untilMs?: number }
  | { readonly kind: 'done' }

export interface ChooseInput {
  readonly plan: Plan
  readonly state: RunState
  /** Number of this start of the run: what earlier ones tried does not use up its limits. */
  readonly session: number
  /** `trialId`s of attempts that run now. */
  readonly running: ReadonlySet<string>
  readonly limits: Limits
  readonly backOff: BackOff
  /** Unix milliseconds. */
  readonly nowMs: number
  readonly isStopping: boolean
}

/** What to do next, as a pure function: every task gets its first trial before any gets its second. */
export function chooseNext(input: ChooseInput): Decision {
  const { running, limits } = input
  const whenIdle: Decision = running.size === 0 ? { kind: 'done' } : { kind: 'wait' }
  if (input.isStopping) return whenIdle
  if (running.size >= limits.numEnvs) return { kind: 'wait' }
  let untilMs = Infinity
  for (const trial of trialsOf(input.plan)) {
    const record = input.state.get(trialId(trial))
    if (running.has(trialId(trial)) || !mayTry(record, input)) continue
    const earliestMs = notBefore(record, input.session, input.backOff)
    if (earliestMs <= input.nowMs) return { kind: 'start', trial, attempt: (record?.attempts.length ?? 0) + 1 }
    untilMs = Math.min(untilMs, earliestMs)
  }
  return untilMs === Infinity ? whenIdle : { kind: 'wait', untilMs }
}

function* trialsOf(plan: Plan): Generator<TrialKey> {
  for (let trial = 1; trial <= plan.trials; trial += 1) {
    for (const { domain, id } of plan.tasks) yield { domain, id, trial }
  }
}

/** Whether the outcome table and the contract allow the trial one more attempt. */
export function mayTry(record: TrialRecord | undefined, { limits, session }: Pick<ChooseInput, 'limits' | 'session'>): boolean {
  if (record === undefined || record.attempts.length === 0) return true
  if (trialReward(record) !== undefined) return false
  let once = 0
  let spent = 0
  for (const { state, session: plannedIn } of record.attempts) {
    if (state.phase !== 'terminal') return false
    const allowance = retryAllowance(state.outcome)
    if (allowance === 'never') return false
    if (plannedIn !== session || allowance === 'at_resume') continue
    spent += 1
    if (allowance === 'once') once += 1
  }
  return once < 2 && spent < limits.maxAttemptsPerTrial
}
