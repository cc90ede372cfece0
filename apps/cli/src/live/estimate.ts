import type { RunStatus } from '@osworld-e2b/contracts'
import { failedNow, type StatusState } from './status-state.ts'

/** Seconds of this start in which attempts were started. */
export function activeSeconds(state: StatusState, nowMs: number): number {
  const paused = state.pausedMs + (state.pausedSinceMs === undefined ? 0 : nowMs - state.pausedSinceMs)
  return Math.max(0, nowMs - state.plan.startedMs - paused) / 1000
}

/**
 * Seconds until nothing is left to do; null while nothing tells. From the measured rate once two rounds are done; before that, since the
 * first round ends late and all at once, from the mean length of an attempt; and for what is started last from its own age.
 */
export function etaSeconds(state: StatusState, nowMs: number): number | null {
  const { running, ended, plan } = state
  const remaining = remainingTrials(state)
  if (remaining === 0) return 0
  if (state.stage === 'stopping' || ended.attempts === 0) return null
  const mean = ended.seconds / ended.attempts
  const ages = [...running.values()].map(({ startedMs }) => Math.max(0, nowMs - startedMs) / 1000)
  if (remaining <= running.size) return positive(mean - Math.min(...ages))
  if (state.pauses.size > 0) return null
  const done = doneNow(state)
  if (done >= 2 * plan.numEnvs) return (remaining * activeSeconds(state, nowMs)) / done
  const worked = ages.reduce((sum, age) => sum + Math.min(age, mean), 0)
  return positive((remaining * mean - worked) / Math.min(plan.numEnvs, remaining))
}

/** What the run cost, running sandboxes included, and what it will have cost if it goes on so; null is unknown. */
export function costOf(state: StatusState, nowMs: number): RunStatus['cost'] {
  const { before } = state.plan
  const running = runningCost(state, nowMs)
  const { costUsd: ended } = state.ended
  if (before.costUsd === null || ended === null || running === null) return { so_far_usd: null, forecast_usd: null }
  const soFar = before.costUsd + ended + running
  const remaining = remainingTrials(state)
  if (remaining === 0) return { so_far_usd: soFar, forecast_usd: soFar }
  const done = doneNow(state)
  return { so_far_usd: soFar, forecast_usd: done === 0 ? null : Math.max(soFar, before.costUsd + ended * (1 + remaining / done)) }
}

/** Of their sandboxes by age; what their models cost is known when they end. */
function runningCost({ running, plan }: StatusState, nowMs: number): number | null {
  if (running.size === 0) return 0
  if (plan.sandboxHourUsd === null) return null
  const seconds = [...running.values()].reduce((sum, { startedMs }) => sum + Math.max(0, nowMs - startedMs) / 1000, 0)
  return (seconds * plan.sandboxHourUsd) / 3_600
}

/** Trials that this start still has to bring to an end. */
function remainingTrials(state: StatusState): number {
  if (state.stage === 'ended') return 0
  if (state.stage !== 'running') return state.running.size
  const { planned, before } = state.plan
  return Math.max(0, planned - before.valid - before.failed - doneNow(state))
}

function doneNow(state: StatusState): number {
  return state.valid + failedNow(state)
}

/** All is older than its like usually gets: nobody knows. */
function positive(seconds: number): number | null {
  return seconds > 0 ? seconds : null
}
