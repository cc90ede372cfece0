import type { Aggregate, Contract, LedgerEvent, Outcome, RunDocument } from '@osworld-e2b/contracts'

/** What a page tells about a run: a fold of its ledger, and what the files beside it say. */
export interface RunModel {
  readonly document: RunDocument
  readonly contract: Contract
  /** Folded from the ledger; `updated_at` is when that was. */
  readonly aggregate: Aggregate
  readonly ledger: LedgerModel
  /** Failed ones first, then by domain. */
  readonly trials: readonly TrialModel[]
}

export interface LedgerModel {
  readonly isThere: boolean
  /** Bytes of an unfinished last line, which was passed over. */
  readonly tornBytes: number
  /** Undefined while the run goes on, and when it was killed. */
  readonly ended: Pick<RunEnded, 'reason' | 'timestamp'> | undefined
}

type RunEnded = Extract<LedgerEvent, { event: 'RUN_ENDED' }>

export interface TrialModel {
  readonly domain: string
  readonly id: string
  readonly trial: number
  /** Undefined while no attempt at it has a score. */
  readonly reward: number | undefined
  /** What the agent was asked, when the recorded task file is still there and has the recorded digest. */
  readonly instruction: string | undefined
  /** In the order they were made. */
  readonly attempts: readonly AttemptModel[]
}

export interface AttemptModel {
  readonly attempt: number
  /** Relative to the run folder, with `/` between names. */
  readonly folder: string
  /** One that never started may have left none. */
  readonly isFolderThere: boolean
  /** Undefined while it has not ended. */
  readonly end: AttemptEnd | undefined
  readonly screenshot: ScreenshotModel | undefined
}

export interface AttemptEnd {
  readonly outcome: Outcome
  readonly seconds: number
  readonly steps: number
  /** Its sandbox or its processes may still be there. */
  readonly isCleanupFailed: boolean
}

/** The last one of its attempt. */
export interface ScreenshotModel {
  /** Relative to the run folder. */
  readonly path: string
  /** Such as "after step 3". */
  readonly moment: string
}
