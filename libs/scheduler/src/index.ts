export type { AttemptPlan, AttemptReport, AttemptServices, OrphanReport } from './attempt.ts'
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
export { openRunFolder, readRun, scoringDigest, type RunFolder, type RunFolderInput } from './run-folder.ts'
export { acquireRunLock, type HeldLock } from './run-lock.ts'
export { SchedulerError, type SchedulerErrorCode } from './scheduler-error.ts'
