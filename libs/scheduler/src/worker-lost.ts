import { type InvalidReason, maxMessageLength } from '@osworld-e2b/contracts'
import type { AttemptReport } from './attempt-report.ts'

/** An attempt that this program could not carry out; nobody else's fault. */
export function workerLost(error: unknown): AttemptReport {
  const message = error instanceof Error ? error.message : String(error)
  return { outcome: { kind: 'invalid', reason: 'worker_lost', message: message.slice(0, maxMessageLength) }, cleanup: 'none', seconds: 0, steps: 0 }
}

/** What a process that cannot write may come to. */
const writersFaults: readonly InvalidReason[] = ['setup_failed', 'runner_exit', 'missing_result', 'malformed_result', 'evaluator_error']

/** While the disk is full a failed attempt is the disk's fault, and tried again as such. */
export function withDiskFault(report: AttemptReport, isDiskFull: boolean): AttemptReport {
  const { outcome } = report
  if (!isDiskFull || outcome.kind === 'valid' || !writersFaults.includes(outcome.reason)) return report
  const { later = [], kind, ...first } = outcome
  return { ...report, outcome: { kind, reason: 'worker_lost', message: 'The disk was full while this attempt ran.', later: [first, ...later] } }
}
