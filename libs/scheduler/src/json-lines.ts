import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** Calls `onLine` for every whole line of the stream; resolves at its end, also when the stream breaks. */
export function readLines(stream: Readable, onLine: (line: string) => void): Promise<void> {
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })
  stream.on('error', () => lines.close())
  lines.on('line', onLine)
  return new Promise((resolve) => lines.once('close', resolve))
}
