import { retryAllowance, type RunState, trialId, type TrialKey, type TrialRecord, trialReward } from '@osworld-e2b/aggregation'
import type { TaskKey } from '@osworld-e2b/contracts'

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
  | { readonly kind: 'wait' }
  | { readonly kind: 'done' }

export interface ChooseInput {
  readonly plan: Plan
  readonly state: RunState
  /** `trialId`s of attempts that run now. */
  readonly running: ReadonlySet<string>
  readonly limits: Limits
  readonly isStopping: boolean
}

/** What to do next, as a pure function: every task gets its first trial before any gets its second. */
export function chooseNext(input: ChooseInput): Decision {
  const { running, limits } = input
  const whenIdle: Decision = running.size === 0 ? { kind: 'done' } : { kind: 'wait' }
  if (input.isStopping) return whenIdle
  if (running.size >= limits.numEnvs) return { kind: 'wait' }
  for (const trial of trialsOf(input.plan)) {
    const record = input.state.get(trialId(trial))
    if (running.has(trialId(trial)) || !mayTry(record, limits)) continue
    return { kind: 'start', trial, attempt: (record?.attempts.length ?? 0) + 1 }
  }
  return whenIdle
}

function* trialsOf(plan: Plan): Generator<TrialKey> {
  for (let trial = 1; trial <= plan.trials; trial += 1) {
    for (const { domain, id } of plan.tasks) yield { domain, id, trial }
  }
}

/** Whether the outcome table and the contract allow the trial one more attempt. */
export function mayTry(record: TrialRecord | undefined, limits: Pick<Limits, 'maxAttemptsPerTrial'>): boolean {
  if (record === undefined || record.attempts.length === 0) return true
  if (trialReward(record) !== undefined) return false
  const counts = { up_to_limit: 0, once: 0, at_resume: 0, never: 0 }
  for (const { state } of record.attempts) {
    if (state.phase !== 'terminal') return false
    counts[retryAllowance(state.outcome)] += 1
  }
  const spent = record.attempts.length - counts.at_resume
  return counts.never === 0 && counts.once < 2 && spent < limits.maxAttemptsPerTrial
}
