import type { Orphans } from '@osworld-e2b/contracts'
import type { Clock } from './clock.ts'
import type { Pause } from './decide.ts'
import type { OwnedSandbox } from './campaign-types.ts'

export interface OrphanWatchOptions {
  readonly clock: Clock
  list(): Promise<readonly OwnedSandbox[]>
  kill(id: string): Promise<unknown>
  /** Names of the attempts that run now. */
  running(): ReadonlySet<string>
  /** Something was found, or what is known has changed. */
  onLook(look: { readonly orphans: Orphans | undefined }): void
  readonly everyMs: number
}

/** While there is trouble it looks again after so long. */
const troubledMs = 3_000
const killTries = 5

/** Looks for sandboxes of the run that no running attempt owns, again and again, and kills them. */
export class OrphanWatch {
  readonly #options: OrphanWatchOptions
  readonly #stopped = new AbortController()
  #looking: Promise<Orphans | undefined> | undefined
  #remaining = 0
  #trouble: string | undefined

  constructor(options: OrphanWatchOptions) {
    this.#options = options
  }

  /** Sandboxes without an owner that the last look left. */
  get remaining(): number {
    return this.#remaining
  }

  /** While the API does not answer, a start would only use up an attempt. */
  get pause(): Pause | undefined {
    return this.#trouble === undefined ? undefined : { reason: 'api_unreachable', message: `The sandboxes cannot be listed: ${this.#trouble}` }
  }

  /** Looks now; undefined when the sandboxes could not be listed. */
  look(): Promise<Orphans | undefined> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async run(): Promise<void> {
    const { clock, everyMs } = this.#options
    for (;;) {
      const isTroubled = this.#trouble !== undefined || this.#remaining > 0
      await clock.sleep(isTroubled ? troubledMs : everyMs, this.#stopped.signal)
      if (this.#isStopped()) return
      const orphans = await this.look()
      // A look that was under way at the end is the end's own.
      if (this.#isStopped()) return
      this.#options.onLook({ orphans })
    }
  }

  stop(): void {
    this.#stopped.abort()
  }

  #isStopped(): boolean {
    return this.#stopped.signal.aborted
  }

  async #look(): Promise<Orphans | undefined> {
    const found = new Set<string>()
    try {
      for (let round = 0; ; round += 1) {
        const listed = await this.#orphans()
        this.#trouble = undefined
        this.#remaining = listed.length
        for (const { id } of listed) found.add(id)
        if (listed.length === 0 || round === killTries) return { found: found.size, killed: found.size - listed.length, remaining: listed.length }
        // A failed kill shows in the next list, which is what counts.
        await Promise.allSettled(listed.map(({ id }) => this.#options.kill(id)))
      }
    } catch (error) {
      this.#trouble = error instanceof Error ? error.message : String(error)
      return undefined
    }
  }

  /** Who runs is asked after the list was made: an attempt that ended meanwhile has proved its own end. */
  async #orphans(): Promise<readonly OwnedSandbox[]> {
    const before = this.#options.running()
    const listed = await this.#options.list()
    const now = this.#options.running()
    return listed.filter(({ attempt }) => attempt === undefined || !(before.has(attempt) || now.has(attempt)))
  }
}
