import { ledgerEventSchema, parseJsonDocument } from '@osworld-e2b/contracts'
import { createRunFold, type RunFold } from './run-state.ts'

export interface ReplayedText {
  readonly fold: RunFold
  /** Length of an unfinished last line, which a crash in mid-write leaves; its event never happened. */
  readonly tornBytes: number
}

/**
 * Folds the bytes of `attempts.jsonl`; `name` stands in messages. Throws `DocumentError` at a line that is no ledger event
 * and `AggregationError` at one that does not follow from those before it.
 */
export function replayText(bytes: Uint8Array, name: string): ReplayedText {
  const fold = createRunFold()
  const end = bytes.lastIndexOf(newline) + 1
  const lines = new TextDecoder().decode(bytes.subarray(0, end)).split('\n').slice(0, -1)
  for (const [index, line] of lines.entries()) fold.apply(parseJsonDocument(ledgerEventSchema, `${name} line ${index + 1}`, line))
  return { fold, tornBytes: bytes.length - end }
}

const newline = 0x0a
