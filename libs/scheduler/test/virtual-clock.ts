import type { Clock } from '../src/index.ts'

interface Sleeper {
  readonly atMs: number
  wake(): void
}

export interface VirtualClock extends Clock {
  /** Lets time pass, from one sleeper's end to the next one's, until the work is done. */
  run<Value>(work: Promise<Value>): Promise<Value>
}

const longestMs = 30 * 86_400_000

/** Time that passes only while everybody sleeps. Wall clock and monotonic clock may be set apart. */
export function virtualClock(skewMs: () => number = () => 0): VirtualClock {
  let nowMs = 0
  const sleepers = new Set<Sleeper>()
  const jump = () => {
    const [next] = [...sleepers].sort((left, right) => left.atMs - right.atMs)
    if (next === undefined) throw new Error('Everything waits for something that never comes.')
    nowMs = Math.max(nowMs, next.atMs)
    if (nowMs > longestMs) throw new Error('A month has passed, and it is still not done.')
    next.wake()
  }
  return {
    now: () => new Date(Date.UTC(2026, 0, 1) + nowMs + skewMs()),
    monotonicMs: () => nowMs,
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve()
        const wake = () => {
          sleepers.delete(sleeper)
          signal.removeEventListener('abort', wake)
          resolve()
        }
        const sleeper: Sleeper = { atMs: nowMs + Math.max(0, milliseconds), wake }
        sleepers.add(sleeper)
        signal.addEventListener('abort', wake)
      }),
    run: async (work) => {
      const state = { isDone: false }
      const watched = work.finally(() => {
        state.isDone = true
      })
      watched.catch(() => undefined)
      for (;;) {
        // After this every promise that could settle without time has settled.
        await new Promise<void>((resolve) => setImmediate(resolve))
        if (state.isDone) return watched
        jump()
      }
    },
  }
}
