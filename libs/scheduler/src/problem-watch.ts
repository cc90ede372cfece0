import type { CampaignServices } from './campaign-types.ts'
import type { Pause } from './decide.ts'
import type { Room } from './room.ts'

/** How often what keeps a run from starting attempts is asked about again. */
export const problemsEveryMs = 1_000

const diskFull: Pause = { reason: 'disk_full', message: 'The disk is full: writing goes on once there is room.' }

/** Knows what keeps a campaign from starting attempts now. */
export class ProblemWatch {
  readonly #services: Pick<CampaignServices, 'clock' | 'problems' | 'room'>
  #asked: readonly Pause[] = []
  #askedMs = -Infinity

  constructor(services: Pick<CampaignServices, 'clock' | 'problems' | 'room'>) {
    this.#services = services
  }

  get problems(): readonly Pause[] {
    return withFullDisk(this.#asked, this.#services.room)
  }

  /** Asks later whether the disk is full or was since now, if only for a moment. */
  fullDiskSince(): () => boolean {
    const { room } = this.#services
    const times = room?.timesFull
    return () => room?.timesFull !== times || this.problems.some(({ reason }) => reason === 'disk_full')
  }

  /** Asks, at most once a second, since a decision is taken more often than the world changes. */
  async ask(): Promise<void> {
    const nowMs = this.#services.clock.monotonicMs()
    if (nowMs - this.#askedMs < problemsEveryMs) return
    this.#askedMs = nowMs
    this.#asked = (await this.#services.problems?.()) ?? []
  }
}

/** Adds the full disk that something waits for, unless it is told already. */
export function withFullDisk(pauses: readonly Pause[], room: Room | undefined): readonly Pause[] {
  return room?.isFull !== true || pauses.some(({ reason }) => reason === 'disk_full') ? pauses : [diskFull, ...pauses]
}
