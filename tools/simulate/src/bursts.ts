import { createRandom } from './random.ts'

/** A span in which the API and all sandboxes answer 502, in milliseconds since the start of the run. */
export interface Burst {
  readonly startMs: number
  readonly endMs: number
}

const hourMs = 3_600_000

/** One burst an hour, at a random moment of it. */
export class Bursts {
  readonly #seed: string
  readonly #lengthMs: number
  readonly #hours: Burst[] = []

  constructor(seed: string, lengthMs: number) {
    this.#seed = seed
    this.#lengthMs = lengthMs
  }

  /** The burst that the moment lies in. */
  at(momentMs: number): Burst | undefined {
    const burst = this.#ofHour(Math.floor(momentMs / hourMs))
    return momentMs >= burst.startMs && momentMs < burst.endMs ? burst : undefined
  }

  /** The moment, or the end of the burst that it lies in. */
  clear(momentMs: number): number {
    return this.at(momentMs)?.endMs ?? momentMs
  }

  /** Bursts that begin after the first moment and before the second. */
  *between(fromMs: number, toMs: number): Generator<Burst> {
    for (let hour = Math.floor(fromMs / hourMs); hour * hourMs < toMs; hour += 1) {
      const burst = this.#ofHour(hour)
      if (burst.startMs > fromMs && burst.startMs < toMs) yield burst
    }
  }

  /** When work that stands still in every burst is done. */
  finish(startMs: number, workMs: number): number {
    let endMs = this.clear(startMs) + workMs
    for (const burst of this.between(this.clear(startMs), Infinity)) {
      if (burst.startMs >= endMs) break
      endMs += burst.endMs - burst.startMs
    }
    return endMs
  }

  /** How much of a span lies outside of all bursts. */
  workIn(fromMs: number, toMs: number): number {
    let workMs = 0
    let atMs = this.clear(fromMs)
    for (const burst of this.between(atMs, toMs)) {
      workMs += burst.startMs - atMs
      atMs = burst.endMs
    }
    return workMs + Math.max(0, toMs - atMs)
  }

  #ofHour(hour: number): Burst {
    const known = this.#hours[hour]
    if (known !== undefined) return known
    // Bursts never reach into the next hour, so that an hour holds exactly one.
    const startMs = hour * hourMs + createRandom(`${this.#seed} burst ${hour}`).uniform() * (hourMs - this.#lengthMs)
    const burst = { startMs, endMs: startMs + this.#lengthMs }
    this.#hours[hour] = burst
    return burst
  }
}
