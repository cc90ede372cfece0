import type { RunStatus } from '@osworld-e2b/contracts'
import type { CampaignEvent } from '@osworld-e2b/scheduler'

/** One way of showing a campaign while it runs. */
export interface View {
  take(event: CampaignEvent): void
  /** A line of somebody else's, put where it does not disturb. */
  line(text: string): void
  /** The last look, after the last event. */
  end(): void
  dispose(): void
}

/** What every view may ask. */
export interface Viewed {
  readonly status: () => RunStatus
  /** Unix milliseconds. */
  readonly nowMs: () => number
}
