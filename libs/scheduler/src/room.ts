import type { Clock } from './clock.ts'
import { isDiskFull, unwritable } from './scheduler-error.ts'

/** Waits out a full disk, so that a campaign pauses instead of ending. */
export interface Room {
  /** Whether something waits for room now. */
  readonly isFull: boolean
  /** How often something had to begin waiting. */
  readonly timesFull: number
  /** Calls at each change of `isFull`. */
  onChange(listener: () => void): void
  /** Does the work again and again while the disk has no room for it; throws `run_unwritable` when the run is stopped meanwhile. */
  keep<Value>(work: () => Promise<Value>): Promise<Value>
}

export interface RoomOptions {
  readonly folder: string
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly everyMs?: number
}

export function createRoom({ folder, clock, signal, everyMs = 2_000 }: RoomOptions): Room {
  let waiting = 0
  let timesFull = 0
  const listeners: (() => void)[] = []
  const change = (by: 1 | -1) => {
    const wasFull = waiting > 0
    waiting += by
    if (wasFull !== waiting > 0) for (const listener of listeners) listener()
  }
  const waitFor = async <Value>(work: () => Promise<Value>, first: Error): Promise<Value> => {
    let last = first
    timesFull += 1
    change(1)
    try {
      for (;;) {
        if (signal.aborted) throw unwritable(folder, last)
        await clock.sleep(everyMs, signal)
        try {
          return await work()
        } catch (error) {
          if (!isDiskFull(error)) throw error
          last = error
        }
      }
    } finally {
      change(-1)
    }
  }
  return {
    get isFull() {
      return waiting > 0
    },
    get timesFull() {
      return timesFull
    },
    onChange: (listener) => void listeners.push(listener),
    keep: async (work) => {
      try {
        return await work()
      } catch (error) {
        if (!isDiskFull(error)) throw error
        return waitFor(work, error)
      }
    },
  }
}
