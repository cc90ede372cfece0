import { AggregationError, noTotals, replayText, type RunState, type RunTotals } from '@osworld-e2b/aggregation'
import { DocumentError, ledgerEventSchema, parseJsonDocument } from '@osworld-e2b/contracts'
import { readIfThere } from './files.ts'
import { unreadable } from './read-documents.ts'
import { ReportError } from './report-error.ts'
import type { LedgerModel } from './run-model.ts'

/** Folds `attempts.jsonl`, which may be absent, growing or torn, and leaves it as it is. Throws `run_unreadable`. */
export async function readLedger(file: string): Promise<{ readonly state: RunState; readonly totals: RunTotals; readonly ledger: LedgerModel }> {
  const bytes = await readIfThere(file)
  if (bytes === undefined) return { state: new Map(), totals: noTotals, ledger: { isThere: false, tornBytes: 0, ended: undefined } }
  try {
    const { fold, tornBytes } = replayText(bytes, file)
    return { state: fold.state, totals: fold.totals, ledger: { isThere: true, tornBytes, ended: tornBytes === 0 ? runEnd(bytes, file) : undefined } }
  } catch (error) {
    if (error instanceof DocumentError) throw unreadable(error)
    if (error instanceof AggregationError) throw new ReportError('run_unreadable', `${file}: ${error.message}`, { cause: error })
    throw error
  }
}

/** The last event says it: whatever goes on after an end begins with a start. */
function runEnd(bytes: Buffer, file: string): LedgerModel['ended'] {
  const line = bytes.toString('utf8').trimEnd().split('\n').at(-1)
  if (line === undefined || line === '') return undefined
  const event = parseJsonDocument(ledgerEventSchema, `${file}, last line`, line)
  return event.event === 'RUN_ENDED' ? { reason: event.reason, timestamp: event.timestamp } : undefined
}
