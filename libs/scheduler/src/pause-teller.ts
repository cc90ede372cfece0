import type { PauseReason } from '@osworld-e2b/contracts'
import type { CampaignServices } from './campaign-types.ts'
import type { Pause } from './decide.ts'
import { withFullDisk } from './problem-watch.ts'

export interface PauseRecord {
  begun(pause: Pause): void
  over(reason: PauseReason): void
}

/**
 * Tells of each pause once, and once that it is over. A full disk is one whatever was decided, also while all places are taken or the run is
 * closed: nothing can be recorded then.
 */
export class PauseTeller {
  readonly #services: Pick<CampaignServices, 'room' | 'onEvent'>
  #record: PauseRecord | undefined
  #decided: readonly Pause[] = []
  #told: readonly Pause[] = []

  constructor(services: Pick<CampaignServices, 'room' | 'onEvent'>, record: PauseRecord) {
    this.#services = services
    this.#record = record
    services.room?.onChange(() => this.#tell())
  }

  decided(pauses: readonly Pause[]): void {
    this.#decided = pauses
    this.#tell()
  }

  /** From now on it is only said: the end of a run is the last line of its start. */
  endRecord(): void {
    this.#record = undefined
  }

  #tell(): void {
    const { onEvent, room } = this.#services
    const now = withFullDisk(this.#decided, room)
    const { begun, over } = pauseChange(this.#told, now)
    this.#told = now
    for (const pause of begun) {
      onEvent({ type: 'run_paused', ...pause })
      this.#record?.begun(pause)
    }
    for (const reason of over) {
      onEvent({ type: 'run_continued', reason })
      this.#record?.over(reason)
    }
  }
}

interface PauseChange {
  readonly begun: readonly Pause[]
  readonly over: readonly PauseReason[]
}

/** What is new and what is over; a pause whose sentence alone has changed is neither. */
function pauseChange(before: readonly Pause[], now: readonly Pause[]): PauseChange {
  return {
    begun: now.filter(({ reason }) => !before.some((pause) => pause.reason === reason)),
    over: before.map(({ reason }) => reason).filter((reason) => !now.some((pause) => pause.reason === reason)),
  }
}
