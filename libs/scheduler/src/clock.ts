import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'

/** Time by parameter, so that the engine can be run in simulated time. */
export interface Clock {
  now(): Date
  /** Milliseconds on a clock that never goes back. */
  monotonicMs(): number
  /** Resolves after so long, or at once when the signal aborts; never rejects. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
}

/** Timers longer than this overflow. */
const longestTimerMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: (milliseconds, signal) => wait(Math.min(longestTimerMs, Math.max(0, milliseconds)), undefined, { signal }).catch(() => undefined),
}
