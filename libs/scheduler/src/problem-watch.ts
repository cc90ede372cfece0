import type { PauseReason } from '@osworld-e2b/contracts'
import type { CampaignServices } from './campaign-types.ts'
import type { Pause } from './decide.ts'

/** How often what keeps a run from starting attempts is asked about again. */
export const problemsEveryMs = 1_000

const diskFull: Pause = { reason: 'disk_full', message: 'The disk is full: writing goes on once there is room.' }

/** Knows what keeps a campaign from starting attempts now. */
export class ProblemWatch {
  readonly #services: Pick<CampaignServices, 'clock' | 'problems' | 'room'>
  #problems: readonly Pause[] = []
  #askedMs = -Infinity

  constructor(services: Pick<CampaignServices, 'clock' | 'problems' | 'room'>) {
    this.#services = services
  }

  get problems(): readonly Pause[] {
    return this.#problems
  }

  get isDiskFull(): boolean {
    return this.#services.room?.isFull === true || this.#problems.some(({ reason }) => reason === 'disk_full')
  }

  /** Asks, at most once a second, since a decision is taken more often than the world changes. */
  async ask(): Promise<void> {
    const nowMs = this.#services.clock.monotonicMs()
    if (nowMs - this.#askedMs < problemsEveryMs) return
    this.#askedMs = nowMs
    const asked = (await this.#services.problems?.()) ?? []
    const isToldAlready = asked.some(({ reason }) => reason === 'disk_full')
    this.#problems = this.#services.room?.isFull === true && !isToldAlready ? [diskFull, ...asked] : asked
  }
}

export interface PauseChange {
  readonly begun: readonly Pause[]
  readonly over: readonly PauseReason[]
}

/** What is new and what is over; a pause whose sentence alone has changed is neither. */
export function pauseChange(before: readonly Pause[], now: readonly Pause[]): PauseChange {
  return {
    begun: now.filter(({ reason }) => !before.some((pause) => pause.reason === reason)),
    over: before.map(({ reason }) => reason).filter((reason) => !now.some((pause) => pause.reason === reason)),
  }
}
