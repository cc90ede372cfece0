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
  /** Without an owner, and not gone when they were last listed. */
  #remaining: ReadonlySet<string> = new Set()
  /** Those of them that a look has told of. */
  #told: ReadonlySet<string> = new Set()
  #trouble: string | undefined

  constructor(options: OrphanWatchOptions) {
    this.#options = options
  }

  /** Sandboxes without an owner that the last look left. */
  get remaining(): number {
    return this.#remaining.size
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
      const isTroubled = this.#trouble !== undefined || this.#remaining.size > 0
      await clock.sleep(isTroubled ? troubledMs : everyMs, this.#stopped.signal)
      if (this.#stopped.signal.aborted) return
      this.#options.onLook({ orphans: await this.look() })
    }
  }

  stop(): void {
    this.#stopped.abort()
  }

  /** A sandbox that stays is found once, however often it is looked at. */
  async #look(): Promise<Orphans | undefined> {
    const seen = new Set([...this.#told, ...this.#remaining])
    try {
      for (let round = 0; ; round += 1) {
        const listed = new Set((await this.#orphans()).map(({ id }) => id))
        this.#trouble = undefined
        this.#remaining = listed
        for (const id of listed) seen.add(id)
        if (listed.size === 0 || round === killTries) return this.#telling(seen, listed)
        // A failed kill shows in the next list, which is what counts.
        await Promise.allSettled([...listed].map((id) => this.#options.kill(id)))
      }
    } catch (error) {
      this.#trouble = error instanceof Error ? error.message : String(error)
      return undefined
    }
  }

  #telling(seen: ReadonlySet<string>, listed: ReadonlySet<string>): Orphans {
    const found = seen.size - this.#told.size
    this.#told = listed
    return { found, killed: seen.size - listed.size, remaining: listed.size }
  }

  /** Who runs is asked after the list was made: an attempt that ended meanwhile has proved its own end. */
  async #orphans(): Promise<readonly OwnedSandbox[]> {
    const before = this.#options.running()
    const listed = await this.#options.list()
    const now = this.#options.running()
    return listed.filter(({ attempt }) => attempt === undefined || !(before.has(attempt) || now.has(attempt)))
  }
}
