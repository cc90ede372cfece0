export { aggregate, type AggregateInput } from './aggregate.ts'
export { AggregationError, type AggregationErrorCode } from './aggregation-error.ts'
export { replayText, type ReplayedText } from './replay-text.ts'
export { allowsAnother, retryAllowance, type RetryAllowance } from './retry.ts'
export {
  createRunFold,
  replay,
  trialId,
  trialReward,
  type AttemptRecord,
  type AttemptState,
  type RunFold,
  type RunState,
  type TrialKey,
  type TrialRecord,
} from './run-state.ts'
export { addUsage, noTotals, type RunTotals, type Used, usageOfCall, usedBy } from './run-totals.ts'
