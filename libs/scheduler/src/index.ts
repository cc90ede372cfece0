export type { AttemptPlan, AttemptReport, AttemptServices } from './attempt.ts'
export type { OrphanReport } from './attempt-end.ts'
export {
  runCampaign,
  type AttemptIdentity,
  type CampaignEvent,
  type CampaignInput,
  type CampaignResult,
  type CampaignServices,
} from './campaign.ts'
export type { ChildCommand } from './child-process.ts'
export { openLedger, type Ledger } from './ledger.ts'
export { checkResumable, openRunFolder, type RunFolderInput } from './run-folder.ts'
export { readRun, readRunState, type RecordedRun } from './read-run.ts'
export { acquireRunLock, refuseHeldLock } from './run-lock.ts'
export { makeRunTemporaryFolder, type TemporaryFolder } from './run-temporary-folder.ts'
export { SchedulerError, type SchedulerErrorCode } from './scheduler-error.ts'
export { readRunTraces, type RunTrace } from './stale-runs.ts'
export { readRunTemporaryFolders, type RunTemporaryFolder } from './stale-temporary-folders.ts'
