import { trialId, type TrialKey } from '@osworld-e2b/aggregation'
import type { Assumptions } from './assumptions.ts'
import { draw } from './log-normal.ts'
import { createRandom } from './random.ts'

/** What chance has in store for one attempt, whenever and wherever it runs. */
export interface Fate {
  readonly createFails: boolean
  readonly readyMs: number
  readonly workMs: number
  /** Share of its life after which its sandbox vanishes. */
  readonly vanishesAfter: number | undefined
  readonly reward: 0 | 1
}

/** The same for the same seed and attempt, so that runs of all sizes meet the same world. */
export function fateOf(seed: string, attempt: TrialKey & { readonly attempt: number }, assumptions: Assumptions): Fate {
  const random = createRandom(`${seed} attempt ${trialId(attempt)}.${attempt.attempt}`)
  const createFails = random.uniform() < assumptions.createFailureShare
  const readyMs = draw(assumptions.readySeconds, random) * 1_000
  const vanishesAfter = random.uniform() < assumptions.vanishShare ? random.uniform() : undefined
  return { createFails, readyMs, vanishesAfter, workMs: workMsOf(seed, attempt, assumptions), reward: rewardOf(seed, attempt, assumptions) }
}

/** How long an attempt at the trial works. */
export function workMsOf(seed: string, trial: TrialKey, { attemptSeconds }: Assumptions): number {
  return draw(attemptSeconds, createRandom(`${seed} length ${trialId(trial)}`)) * 1_000
}

/** What somebody who measured the task in an earlier run would expect it to take, in seconds. */
export function expectedSecondsOf(seed: string, trial: TrialKey, assumptions: Assumptions): number {
  const error = Math.exp(assumptions.durationError * createRandom(`${seed} estimate ${trialId(trial)}`).normal())
  return (workMsOf(seed, trial, assumptions) / 1_000) * error
}

function rewardOf(seed: string, trial: TrialKey, { solvedShare }: Assumptions): 0 | 1 {
  return createRandom(`${seed} reward ${trialId(trial)}`).uniform() < solvedShare ? 1 : 0
}
