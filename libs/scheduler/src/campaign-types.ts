import type { TrialKey } from '@osworld-e2b/aggregation'
import type { Aggregate, Contract, ModelUsage, Orphans, PauseReason, Phase } from '@osworld-e2b/contracts'
import type { AttemptHooks, AttemptReport } from './attempt-report.ts'
import type { BackOff } from './back-off.ts'
import type { BreakerSettings } from './breaker.ts'
import type { Clock } from './clock.ts'
import type { Pause } from './decide.ts'
import type { Ledger } from './ledger.ts'
import type { ProcessIdentity } from './process-identity.ts'
import type { Room } from './room.ts'

export interface AttemptIdentity extends TrialKey {
  readonly attempt: number
  /** Relative to the run folder. */
  readonly attemptDir: string
}

export type CampaignEvent =
  | { readonly type: 'attempt_started'; readonly identity: AttemptIdentity }
  | { readonly type: 'attempt_phase'; readonly identity: AttemptIdentity; readonly phase: Phase }
  | { readonly type: 'attempt_step'; readonly identity: AttemptIdentity; readonly step: number }
  | { readonly type: 'attempt_ended'; readonly identity: AttemptIdentity; readonly report: AttemptReport }
  | { readonly type: 'run_paused'; readonly reason: PauseReason; readonly message: string }
  | { readonly type: 'run_continued'; readonly reason: PauseReason }
  | { readonly type: 'orphans_killed'; readonly when: 'start' | 'during' | 'end'; readonly orphans: Orphans }
  | { readonly type: 'draining' | 'stopping' }

export interface CampaignInput {
  readonly runId: string
  readonly contract: Contract
  readonly ledger: Ledger
  readonly labels: { readonly unconfined: boolean; readonly unverified: boolean; readonly simulated?: boolean }
  /** Dollars of one sandbox for one hour; absent when nobody said, which is not zero. */
  readonly sandboxHourUsd?: number
  /** Dollars that one attempt's model calls cost at most, before an attempt has shown it. */
  readonly attemptModelUsd?: number
  /** How long an attempt at a task takes, by `domain/id`, as an earlier run showed it: the longest are then started first. */
  readonly expectedSeconds?: ReadonlyMap<string, number>
  /** Aborts when nothing more is to be started; what runs is finished. */
  readonly drain?: AbortSignal
  /** Between attempts at a trial whose infrastructure failed; `defaultBackOff` unless given. */
  readonly backOff?: BackOff
  readonly breaker?: BreakerSettings
  /** How often the run's sandboxes are listed while it runs, in milliseconds. */
  readonly lookEveryMs?: number
}

/** A sandbox that carries this run's mark. */
export interface OwnedSandbox {
  readonly id: string
  /** `domain/task-id/trial.attempt`, as it was marked when it was made. */
  readonly attempt: string | undefined
}

export interface ClosedLeftover extends Pick<AttemptReport, 'catalogSha256' | 'model' | 'sandboxSeconds'> {
  /** What of it could not be ended or kept; a sentence. */
  readonly problem?: string
}

export interface CampaignServices {
  readonly clock: Clock
  /** Runs one attempt to the proof that nothing of it is left. What goes wrong in it is its outcome. */
  runAttempt(identity: AttemptIdentity, hooks: AttemptHooks): Promise<AttemptReport>
  /** Waits for the end of what an earlier owner of the run left of an attempt, and closes its evidence. */
  closeLeftover(identity: AttemptIdentity, process: ProcessIdentity | undefined): Promise<ClosedLeftover>
  /** Every sandbox of the run that the API lists. */
  listSandboxes(): Promise<readonly OwnedSandbox[]>
  killSandbox(id: string): Promise<unknown>
  /** What keeps anything from being started now. */
  problems?(): Promise<readonly Pause[]>
  /** Attempts that the model's endpoints may serve at a time. */
  modelPermits?(): number | undefined
  /** What a running attempt's calls have used so far. */
  modelUsage?(identity: AttemptIdentity): ModelUsage | undefined
  readonly room?: Room
  writeAggregate(aggregate: Aggregate): Promise<void>
  onEvent(event: CampaignEvent): void
  readonly owner: { readonly pid: number; readonly host: string }
}

export interface CampaignResult {
  readonly aggregate: Aggregate
  /** Of the last look; undefined when the sandboxes could not be listed at the end. */
  readonly orphans: Orphans | undefined
  readonly reason: 'complete' | 'incomplete' | 'interrupted' | 'drained' | 'deadline' | 'budget' | 'identity_drift'
}

/** How a sandbox of the attempt is marked. */
export function attemptName({ domain, id, trial, attempt }: Omit<AttemptIdentity, 'attemptDir'>): string {
  return `${domain}/${id}/${trial}.${attempt}`
}
