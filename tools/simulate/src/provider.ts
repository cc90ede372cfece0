import type { Bursts } from './bursts.ts'

export interface ProviderInput {
  readonly sandboxes: number
  readonly createsPerSecond: number
  readonly bursts: Bursts
  monotonicMs(): number
}

export type Refusal = 'burst' | 'rate' | 'full' | 'chance'

/** What the provider saw, for figures and for tests of the engine's manners. */
export interface ProviderCounts {
  readonly mostSandboxes: number
  readonly refused: Readonly<Record<Refusal, number>>
}

export interface Create {
  readonly attempt: string
  readonly failsByChance: boolean
}

interface Sandbox {
  readonly id: string
  readonly attempt: string
  readonly bornMs: number
}

/** A provider of sandboxes as the assumptions have it; it knows no more of an attempt than its name. */
export class SimulatedProvider {
  readonly #input: ProviderInput
  readonly #alive = new Map<string, Sandbox>()
  #createsMs: number[] = []
  readonly #refused: Record<Refusal, number> = { burst: 0, rate: 0, full: 0, chance: 0 }
  #mostSandboxes = 0
  #born = 0

  constructor(input: ProviderInput) {
    this.#input = input
  }

  get counts(): ProviderCounts {
    return { mostSandboxes: this.#mostSandboxes, refused: { ...this.#refused } }
  }

  /** Gives the sandbox's name, or why there is none. */
  create({ attempt, failsByChance }: Create): { readonly id: string } | { readonly refusal: Refusal } {
    const refusal = this.#refusal(failsByChance)
    if (refusal !== undefined) {
      this.#refused[refusal] += 1
      return { refusal }
    }
    this.#born += 1
    const id = `sandbox-${this.#born}`
    this.#alive.set(id, { id, attempt, bornMs: this.#input.monotonicMs() })
    this.#mostSandboxes = Math.max(this.#mostSandboxes, this.#alive.size)
    return { id }
  }

  /** Throws in a burst. */
  list(): readonly Sandbox[] {
    this.#throwInBurst()
    return [...this.#alive.values()]
  }

  /** Throws in a burst; killing what is gone already is no fault. */
  kill(id: string): void {
    this.#throwInBurst()
    this.end(id)
  }

  /** The sandbox is gone, by whatever cause; gives for how many milliseconds it is paid. */
  end(id: string): number {
    const sandbox = this.#alive.get(id)
    this.#alive.delete(id)
    return sandbox === undefined ? 0 : this.#input.monotonicMs() - sandbox.bornMs
  }

  #refusal(failsByChance: boolean): Refusal | undefined {
    const { bursts, createsPerSecond, sandboxes } = this.#input
    const nowMs = this.#input.monotonicMs()
    this.#createsMs = this.#createsMs.filter((atMs) => atMs > nowMs - 1_000)
    const inLastSecond = this.#createsMs.push(nowMs) - 1
    if (inLastSecond >= createsPerSecond) return 'rate'
    if (bursts.at(nowMs) !== undefined) return 'burst'
    if (this.#alive.size >= sandboxes) return 'full'
    return failsByChance ? 'chance' : undefined
  }

  #throwInBurst(): void {
    if (this.#input.bursts.at(this.#input.monotonicMs()) !== undefined) throw new Error('The API answered 502.')
  }
}
