import { allowsAnother, retryAllowance, type RunState, trialId, type TrialKey, type TrialRecord, trialReward } from '@osworld-e2b/aggregation'
import type { NotRunReason, PauseReason, TaskKey } from '@osworld-e2b/contracts'
import { type BackOff, delayMs } from './back-off.ts'
import { type BreakerSettings, type CreateFaults, openUntilMs } from './breaker.ts'

export interface Plan {
  readonly tasks: readonly TaskKey[]
  readonly trials: number
}

export interface Limits {
  /** Sandboxes at a time. */
  readonly numEnvs: number
  readonly maxAttemptsPerTrial: number
  /** Attempts started in any one second; not limited when undefined. */
  readonly launchesPerSecond: number | undefined
  /** On the monotonic clock; after it nothing is started. */
  readonly deadlineMs: number | undefined
}

export interface Pause {
  readonly reason: PauseReason
  /** One sentence. */
  readonly message: string
}

export type Decision =
  | { readonly kind: 'start'; readonly trial: TrialKey; readonly attempt: number }
  /** For something to change, or until a time on the monotonic clock. */
  | { readonly kind: 'wait'; readonly untilMs?: number; readonly pauses: readonly Pause[] }
  | { readonly kind: 'done'; readonly notRun: Partial<Record<NotRunReason, number>> }

export interface DecideInput {
  readonly plan: Plan
  readonly state: RunState
  /** Number of this start of the run: what earlier ones tried does not use up its limits. */
  readonly session: number
  /** `trialId`s of attempts that run now. */
  readonly running: ReadonlySet<string>
  /** When attempts of this start ended, by `trialId`, on the monotonic clock. */
  readonly endedMs: ReadonlyMap<string, number>
  /** When attempts were started in the last second, the oldest first. */
  readonly launchedMs: readonly number[]
  /** How long an attempt at a task may take, by `domain/id`; undefined when nobody knows. */
  readonly expectedSeconds: ReadonlyMap<string, number> | undefined
  /** Sandboxes of the run that no running attempt owns and that are not gone yet. */
  readonly orphans: number
  /** Of the running attempts, those that have no sandbox yet. */
  readonly creating: number
  readonly createFaults: CreateFaults
  /** Attempts that the endpoints of the model may serve at a time; not limited when undefined. */
  readonly modelPermits: number | undefined
  /** What keeps anything from being started now, besides the breaker. */
  readonly pauses: readonly Pause[]
  /** Why the budget does not hold one more attempt. */
  readonly budgetProblem: string | undefined
  readonly limits: Limits
  readonly backOff: BackOff
  readonly breaker: BreakerSettings
  /** Milliseconds on a clock that never goes back. */
  readonly nowMs: number
  /** Why nothing more is to be started. */
  readonly stopping: NotRunReason | undefined
}

/**
 * What to do next, as a pure function of what is known. Every task gets its first trial before any gets its second. Of one trial's
 * tasks the longest come first where lengths are known, since a long one that begins last keeps all other places empty; else those
 * that were tried least, in the plan's order.
 */
export function decide(input: DecideInput): Decision {
  const { stopping, limits, nowMs, running, budgetProblem } = input
  if (running.size > 0 && running.size + input.orphans >= seats(input)) return { kind: 'wait', pauses: pausesOf(input) }
  const overdue = limits.deadlineMs !== undefined && nowMs >= limits.deadlineMs
  const ending = stopping ?? (overdue ? 'deadline' : undefined)
  if (ending !== undefined) return whenIdle(input, ending)
  const candidate = nextTrial(input)
  if (candidate === undefined) return whenIdle(input, undefined)
  // What runs may use less than it was reserved, and then there is room again.
  if (budgetProblem !== undefined) return whenIdle(input, 'budget')
  const pauses = pausesOf(input)
  if (pauses.length > 0) return { kind: 'wait', pauses, ...untilOf([breakerMs(input), limits.deadlineMs], nowMs) }
  if (running.size + input.orphans >= seats(input) || mustWaitForProbe(input)) return { kind: 'wait', pauses: [], ...untilOf([limits.deadlineMs], nowMs) }
  const earliestMs = Math.max(candidate.earliestMs, launchMs(input))
  if (earliestMs > nowMs) return { kind: 'wait', pauses: [], ...untilOf([earliestMs, limits.deadlineMs], nowMs) }
  return { kind: 'start', trial: candidate.trial, attempt: candidate.attempts + 1 }
}

interface Candidate {
  readonly trial: TrialKey
  readonly attempts: number
  readonly earliestMs: number
  /** Expected; what is not known is taken for the longest. */
  readonly seconds: number
}

/** Of the trials that may be tried the one that may be first; of those that may now, the least tried. */
function nextTrial(input: DecideInput): Candidate | undefined {
  let best: Candidate | undefined
  for (const candidate of candidates(input)) {
    if (best === undefined || isBefore(candidate, best, input)) best = candidate
  }
  return best
}

function isBefore(left: Candidate, right: Candidate, input: DecideInput): boolean {
  const [leftMs, rightMs] = [Math.max(left.earliestMs, input.nowMs), Math.max(right.earliestMs, input.nowMs)]
  if (leftMs !== rightMs) return leftMs < rightMs
  if (left.trial.trial !== right.trial.trial) return left.trial.trial < right.trial.trial
  // While creates fail each one uses up an attempt, so they are taken in turn.
  if (input.expectedSeconds !== undefined && breakerMs(input) === undefined && left.seconds !== right.seconds) return left.seconds > right.seconds
  return left.attempts < right.attempts
}

function* candidates({ plan, state, running, limits, session, endedMs, backOff, expectedSeconds }: DecideInput): Generator<Candidate> {
  for (const trial of trialsOf(plan)) {
    const id = trialId(trial)
    const record = state.get(id)
    if (running.has(id) || !mayTry(record, { limits, session })) continue
    const delay = delayMs(record, session, backOff)
    const seconds = expectedSeconds?.get(`${trial.domain}/${trial.id}`) ?? Infinity
    yield { trial, seconds, attempts: record?.attempts.length ?? 0, earliestMs: delay === 0 ? 0 : (endedMs.get(id) ?? 0) + delay }
  }
}

function* trialsOf(plan: Plan): Generator<TrialKey> {
  for (let trial = 1; trial <= plan.trials; trial += 1) {
    for (const { domain, id } of plan.tasks) yield { domain, id, trial }
  }
}

/** Whether the outcome table and the contract allow the trial one more attempt. */
function mayTry(record: TrialRecord | undefined, { limits, session }: { readonly limits: Pick<Limits, 'maxAttemptsPerTrial'>; readonly session: number }): boolean {
  if (record === undefined || record.attempts.length === 0) return true
  if (trialReward(record) !== undefined) return false
  const ends = record.attempts.flatMap(({ state, session: plannedIn }) => (state.phase === 'terminal' ? [{ outcome: state.outcome, isOfThisStart: plannedIn === session }] : []))
  if (ends.length < record.attempts.length || ends.some(({ outcome }) => retryAllowance(outcome) === 'never')) return false
  return allowsAnother(ends.filter(({ isOfThisStart }) => isOfThisStart).map(({ outcome }) => outcome), limits.maxAttemptsPerTrial)
}

/** An attempt that was ended before its own end keeps its trial for a resume. */
function isKeptForResume({ state, session }: DecideInput, trial: TrialKey): boolean {
  const last = state.get(trialId(trial))?.attempts.at(-1)
  return last?.session === session && last.state.phase === 'terminal' && retryAllowance(last.state.outcome) === 'at_resume'
}

function whenIdle(input: DecideInput, reason: NotRunReason | undefined): Decision {
  if (input.running.size > 0) return { kind: 'wait', pauses: pausesOf(input) }
  if (reason === undefined) return { kind: 'done', notRun: {} }
  const left = [...candidates(input)].length + [...trialsOf(input.plan)].filter((trial) => isKeptForResume(input, trial)).length
  return { kind: 'done', notRun: left === 0 ? {} : { [reason]: left } }
}

function seats({ limits, modelPermits = Infinity }: DecideInput): number {
  return Math.min(limits.numEnvs, modelPermits)
}

function pausesOf(input: DecideInput): readonly Pause[] {
  const untilMs = breakerMs(input)
  if (untilMs === undefined || untilMs <= input.nowMs) return input.pauses
  return [...input.pauses, { reason: 'sandbox_creates_fail', message: `${input.createFaults.inARow} creates of sandboxes failed in a row, so the next is tried only after a while.` }]
}

function breakerMs({ createFaults, breaker }: DecideInput): number | undefined {
  return openUntilMs(createFaults, breaker)
}

/** After the breaker's time one sandbox is asked for, and its fate decides. */
function mustWaitForProbe(input: DecideInput): boolean {
  return breakerMs(input) !== undefined && input.creating > 0
}

/** When the rate allows the next launch. */
function launchMs({ limits: { launchesPerSecond }, launchedMs }: DecideInput): number {
  if (launchesPerSecond === undefined) return 0
  const previous = launchedMs.at(-launchesPerSecond)
  return previous === undefined ? 0 : previous + 1_000
}

/** The next of the times that is still to come. */
function untilOf(times: readonly (number | undefined)[], nowMs: number): { readonly untilMs?: number } {
  const untilMs = Math.min(...times.flatMap((time) => (time === undefined || time <= nowMs ? [] : [time])))
  return untilMs === Infinity ? {} : { untilMs }
}
