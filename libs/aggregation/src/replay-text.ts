import { DocumentError, ledgerEventSchema, parseJsonDocument } from '@osworld-e2b/contracts'
import { createRunFold, type RunFold } from './run-state.ts'

export interface ReplayedText {
  readonly fold: RunFold
  /** Length of what a crash left behind the last whole event: half a line, or bytes that are no text. Those events never happened. */
  readonly tornBytes: number
}

/**
 * Folds the bytes of `attempts.jsonl`; `name` stands in messages. Throws `DocumentError` at a line that is no ledger event and that is followed
 * by one, and `AggregationError` at one that does not follow from those before it.
 */
export function replayText(bytes: Uint8Array, name: string): ReplayedText {
  const fold = createRunFold()
  let start = 0
  for (let number = 1; ; number += 1) {
    const end = bytes.indexOf(newline, start)
    if (end === -1) return { fold, tornBytes: bytes.length - start }
    try {
      fold.apply(parseJsonDocument(ledgerEventSchema, `${name} line ${number}`, textOf(bytes, start, end)))
    } catch (error) {
      if (error instanceof DocumentError && isGarbage(bytes, start)) return { fold, tornBytes: bytes.length - start }
      throw error
    }
    start = end + 1
  }
}

const newline = 0x0a
const decoder = new TextDecoder()

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return decoder.decode(bytes.subarray(start, end))
}

/** Whether no line from there on is JSON: a file system may leave such a tail when the machine dies, and nobody writes it. */
function isGarbage(bytes: Uint8Array, start: number): boolean {
  return textOf(bytes, start, bytes.length)
    .split('\n')
    .every((line) => !isJson(line))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
