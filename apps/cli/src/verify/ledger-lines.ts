import { createReadStream } from 'node:fs'

export interface LedgerLine {
  /** Counted from 1. */
  readonly number: number
  readonly text: string
}

export interface LedgerEnd {
  /** Length of an unfinished last line. */
  readonly tornBytes: number
}

/** No event is longer; what has no line end for so long is no ledger. */
const longestLineBytes = 16 * 1024 * 1024
const newline = 0x0a

/** The whole lines of a ledger, one at a time however long it is; then how much of an unfinished one follows. */
export async function* ledgerLines(path: string): AsyncGenerator<LedgerLine, LedgerEnd> {
  let pieces: Buffer[] = []
  let pendingBytes = 0
  let number = 0
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      number += 1
      yield { number, text: Buffer.concat([...pieces, chunk.subarray(from, end)]).toString('utf8') }
      pieces = []
      pendingBytes = 0
      from = end + 1
    }
    pendingBytes += chunk.length - from
    if (pendingBytes <= longestLineBytes) pieces.push(chunk.subarray(from))
    else pieces = []
  }
  return { tornBytes: pendingBytes }
}
