import type { ModelUsage } from '@osworld-e2b/contracts'

export interface ClosedModel {
  readonly usage: ModelUsage
  /** Of a call that failed for good and that nothing made good, as a sentence. */
  readonly failure: string | undefined
}

/** One attempt's way to its model. */
export interface ModelSession {
  /** Addresses and a key for this attempt alone, by the names that agents read. */
  readonly environment: Readonly<Record<string, string>>
  /** Aborts, with the sentence as its reason, when the agent went on after a call that had failed for good. */
  readonly swallowed: AbortSignal
  usage(): ModelUsage
  close(): Promise<ClosedModel>
}
