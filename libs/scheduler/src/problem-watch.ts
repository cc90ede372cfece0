import type { PauseReason } from '@osworld-e2b/contracts'
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

  get isDiskFull(): boolean {
    return this.problems.some(({ reason }) => reason === 'disk_full')
  }

  /** Asks, at most once a second, since a decision is taken more often than the world changes. */
  async ask(): Promise<void> {
    const nowMs = this.#services.clock.monotonicMs()
    if (nowMs - this.#askedMs < problemsEveryMs) return
    this.#askedMs = nowMs
    this.#asked = (await this.#services.problems?.()) ?? []
  }
}

function withFullDisk(pauses: readonly Pause[], room: Room | undefined): readonly Pause[] {
  return room?.isFull !== true || pauses.some(({ reason }) => reason === 'disk_full') ? pauses : [diskFull, ...pauses]
}

export interface PauseTelling {
  begun(pause: Pause): void
  over(reason: PauseReason): void
}

/** Tells each pause once, and once that it is over. A full disk is one whatever was decided: then nothing can be written at all. */
export class PauseTeller {
  readonly #room: Room | undefined
  readonly #telling: PauseTelling
  #decided: readonly Pause[] = []
  #told: readonly Pause[] = []

  constructor(room: Room | undefined, telling: PauseTelling) {
    this.#room = room
    this.#telling = telling
    room?.onChange(() => this.#tell())
  }

  decided(pauses: readonly Pause[]): void {
    this.#decided = pauses
    this.#tell()
  }

  #tell(): void {
    const now = withFullDisk(this.#decided, this.#room)
    const { begun, over } = pauseChange(this.#told, now)
    this.#told = now
    for (const pause of begun) this.#telling.begun(pause)
    for (const reason of over) this.#telling.over(reason)
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
