import type { Phase } from '@osworld-e2b/contracts'

/** Milliseconds; a phase without an entry has the attempt's time-out alone. */
export type PhaseTimeouts = Partial<Record<Phase, number>>

/** Calls once when a phase takes longer than it may. */
export class PhaseTimer {
  readonly #timeouts: PhaseTimeouts
  readonly #onLate: (phase: Phase, seconds: number) => void
  #timer: NodeJS.Timeout | undefined

  constructor(timeouts: PhaseTimeouts, onLate: (phase: Phase, seconds: number) => void) {
    this.#timeouts = timeouts
    this.#onLate = onLate
  }

  enter(phase: Phase): void {
    this.stop()
    const timeoutMs = this.#timeouts[phase]
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => this.#onLate(phase, timeoutMs / 1_000), timeoutMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
