export type { AttemptPlan, AttemptServices } from './attempt-plan.ts'
export type { OrphanReport } from './attempt-end.ts'
export { attemptProcesses, type AttemptProcesses } from './attempt-processes.ts'
export type { AttemptHooks, AttemptReport } from './attempt-report.ts'
export { type BackOff, defaultBackOff } from './back-off.ts'
export { type BreakerSettings, defaultBreaker } from './breaker.ts'
export { runCampaign } from './campaign.ts'
export {
  attemptName,
  type AttemptIdentity,
  type CampaignEvent,
  type CampaignInput,
  type CampaignResult,
  type CampaignServices,
  type OwnedSandbox,
} from './campaign-types.ts'
export type { ChildCommand } from './child-process.ts'
export { type Clock, systemClock } from './clock.ts'
export type { Pause } from './decide.ts'
export { openLedger, type KeepWriting, type Ledger } from './ledger.ts'
export { requestsOfOpenAttempts } from './leftover-usage.ts'
export { memoryLedger } from './memory-ledger.ts'
export type { ClosedModel, ModelSession } from './model-session.ts'
export type { ProcessIdentity } from './process-identity.ts'
export { createRoom, type Room } from './room.ts'
export { checkResumable, openRunFolder, type RunFolderInput } from './run-folder.ts'
export { readRun, readRunState, type RecordedRun } from './read-run.ts'
export { acquireRunLock, refuseHeldLock } from './run-lock.ts'
export { makeRunTemporaryFolder, type TemporaryFolder } from './run-temporary-folder.ts'
export { SchedulerError, type SchedulerErrorCode } from './scheduler-error.ts'
export { readRunTraces, type RunTrace } from './stale-runs.ts'
export { readRunTemporaryFolders, type RunTemporaryFolder } from './stale-temporary-folders.ts'
