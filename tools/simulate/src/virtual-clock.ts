import { setImmediate } from 'node:timers/promises'
import { SimulateError } from './simulate-error.ts'

export interface VirtualClock {
  now(): Date
  /** Milliseconds since the clock was made. */
  monotonicMs(): number
  /** Resolves when the time has come or the signal aborts. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
  /** Lets time jump from sleeper to sleeper until the work has ended; throws `stuck` when time cannot go on. */
  run<Result>(work: Promise<Result>): Promise<Result>
}

interface Sleeper {
  readonly atMs: number
  wake(): void
}

/** Turns of the event loop in which nothing new may fall asleep before time goes on. */
const quietTurns = 2
/** More sleepers than any engine has at one moment: something sleeps for no time at all, again and again. */
const mostWakesAtOnce = 10_000

/** A clock that stands still while anything can go on without it; sleepers of one moment wake in the order in which they fell asleep. */
export function createVirtualClock(startsAt: Date): VirtualClock {
  const sleepers: Sleeper[] = []
  let elapsedMs = 0
  let changes = 0
  const insert = (sleeper: Sleeper) => {
    changes += 1
    sleepers.splice(indexAfter(sleepers, sleeper.atMs), 0, sleeper)
  }
  const remove = (sleeper: Sleeper) => {
    const index = sleepers.indexOf(sleeper)
    if (index >= 0) sleepers.splice(index, 1)
    changes += 1
  }
  const quiet = async () => {
    for (let turns = 0; turns < quietTurns; turns += 1) {
      const before = changes
      await setImmediate()
      if (changes !== before) turns = -1
    }
  }
  return {
    now: () => new Date(startsAt.getTime() + elapsedMs),
    monotonicMs: () => elapsedMs,
    sleep: (milliseconds, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve()
        const wake = () => {
          signal.removeEventListener('abort', abort)
          resolve()
        }
        const sleeper = { atMs: elapsedMs + Math.max(0, milliseconds), wake }
        const abort = () => {
          remove(sleeper)
          wake()
        }
        signal.addEventListener('abort', abort, { once: true })
        insert(sleeper)
      }),
    run: async (work) => {
      const progress = { hasEnded: false }
      let wakes = 0
      const ended = work.finally(() => {
        progress.hasEnded = true
      })
      // Whoever called gets the failure from `ended` below.
      ended.catch(() => undefined)
      for (;;) {
        await quiet()
        if (progress.hasEnded) return ended
        const next = sleepers.shift()
        if (next === undefined) throw stuck('nothing in it waits for time to pass')
        wakes = next.atMs > elapsedMs ? 0 : wakes + 1
        if (wakes > mostWakesAtOnce) throw stuck(`something in it waits again and again for the moment that is now (${Math.round(elapsedMs / 1_000)} s after its start)`)
        elapsedMs = next.atMs
        next.wake()
      }
    },
  }
}

function stuck(why: string): SimulateError {
  return new SimulateError('stuck', `The simulated run does not end: ${why}. This is a fault of the engine or of the simulation: report it with the seed.`)
}

/** Where a sleeper of this moment belongs: behind the others of the same moment. */
function indexAfter(sleepers: readonly Sleeper[], atMs: number): number {
  let low = 0
  let high = sleepers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sleepers[middle]?.atMs ?? Infinity) <= atMs) low = middle + 1
    else high = middle
  }
  return low
}
