import type { IncomingMessage } from 'node:http'

/** The whole body; undefined when its sender left. A body over the limit is read to its end and not kept, so that the sender can hear of it. */
export async function readBody(request: IncomingMessage, maxBytes: number, signal: AbortSignal): Promise<Buffer | 'too_large' | undefined> {
  const pieces: Buffer[] = []
  let length = 0
  const leave = (): void => void request.destroy()
  signal.addEventListener('abort', leave)
  try {
    for await (const piece of request as AsyncIterable<Buffer>) {
      length += piece.length
      if (length <= maxBytes) pieces.push(piece)
      else pieces.length = 0
    }
    return length > maxBytes ? 'too_large' : Buffer.concat(pieces)
  } catch (error) {
    if (signal.aborted || request.destroyed) return undefined
    throw error
  } finally {
    signal.removeEventListener('abort', leave)
  }
}
