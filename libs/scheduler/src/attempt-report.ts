import type { Cleanup, ModelUsage, Outcome, Phase } from '@osworld-e2b/contracts'
import type { ProcessIdentity } from './process-identity.ts'

export interface AttemptHooks {
  /** Its process exists; to be awaited before anything that costs is done. */
  onStarted(process: ProcessIdentity): Promise<void>
  onPhase(phase: Phase): void
  onStep(step: number): void
  /** Aborts when the attempt is to be ended. */
  readonly signal: AbortSignal
}

export interface AttemptReport {
  readonly outcome: Outcome
  readonly cleanup: Cleanup
  /** From the start of its process to the end of its clean-up. */
  readonly seconds: number
  readonly steps: number
  /** From asking for its sandbox to knowing that it is gone; undefined when it had none. */
  readonly sandboxSeconds?: number
  readonly model?: ModelUsage
  readonly catalogSha256?: string
}
