import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'

export interface LineHandlers {
  onLine(line: string): void
  /** The other side writes without an end of line; nothing more is read. */
  onTooLong(): void
}

/** More than any message of ours holds; what is longer comes from a program gone wrong. */
const longestLine = 1_048_576

/** Calls `onLine` for every whole line of the stream; resolves at its end, also when the stream breaks. */
export function readLines(stream: Readable, handlers: LineHandlers): Promise<void> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  const take = (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) handlers.onLine(line)
    if (rest.length <= longestLine) return
    stream.off('data', take)
    stream.destroy()
    handlers.onTooLong()
  }
  return new Promise((resolve) => {
    stream.on('data', take)
    stream.on('error', () => resolve())
    stream.once('close', () => resolve())
    stream.once('end', () => resolve())
  })
}
