import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { ModelApi, TokenCounts } from '@osworld-e2b/contracts'
import { EndpointFault } from './ask-endpoint.ts'
import { EventReader, type ServerEvent } from './event-reader.ts'
import { maxBodyBytes } from './gateway-options.ts'
import type { Mask } from './mask.ts'
import { StreamReading } from './stream-reading.ts'

export interface StreamRelay {
  readonly api: ModelApi
  readonly pieces: AsyncIterable<Buffer>
  readonly response: ServerResponse
  readonly mask: Mask
  /** Drops the chunk that tells the usage, since the agent did not ask for it. */
  readonly dropsUsage: boolean
  readonly keepsText: boolean
  readonly signal: AbortSignal
}

export interface StreamEnd {
  readonly outcome: 'answered' | 'rejected' | 'failed' | 'abandoned'
  readonly failure: string | undefined
  readonly tokens: TokenCounts | null
  readonly text: string
}

/** Passes a streamed answer on as it comes, and reads how it ended; the response is left open. */
export async function relayStream(relay: StreamRelay): Promise<StreamEnd> {
  const reading = new StreamReading(relay.api)
  const kept: Buffer[] = []
  const end = (outcome: StreamEnd['outcome'], failure?: string): StreamEnd => {
    return { outcome, failure, tokens: reading.tokens(), text: Buffer.concat(kept).toString() }
  }
  try {
    for await (const bytes of passedOn(relay, reading)) {
      if (relay.keepsText) kept.push(bytes)
      if (!relay.response.write(bytes)) await once(relay.response, 'drain', { signal: relay.signal })
      // The agent may be gone without the endpoint's noticing.
      relay.signal.throwIfAborted()
    }
  } catch (error) {
    // Clients may leave as soon as they have the whole answer.
    if (relay.signal.aborted) return end(reading.state === 'done' ? 'answered' : 'abandoned')
    if (error instanceof EndpointFault) return end('failed', `its stream broke off: ${error.message}`)
    throw error
  }
  if (reading.state === 'none' && relay.api !== 'other') return end('failed', 'its stream held no answer')
  if (reading.state === 'begun') return end('failed', 'its stream ended before the answer did')
  if (reading.state === 'failed' || reading.state === 'rejected') return end(reading.state, `its stream told of an error${word(reading.error)}`)
  return end('answered')
}

function word(error: string | undefined): string {
  return error === undefined ? '' : ` (${error})`
}

/** Bytes for the agent: the pieces as they come, or whole events where some have to be dropped. */
async function* passedOn({ pieces, mask, dropsUsage }: StreamRelay, reading: StreamReading): AsyncGenerator<Buffer> {
  const reader = new EventReader()
  const masking = mask.stream()
  const kept = (events: readonly ServerEvent[]): Buffer[] => events.filter(({ data }) => !(reading.take(data) && dropsUsage)).map(({ raw }) => raw)
  let length = 0
  for await (const piece of pieces) {
    length += piece.length
    if (length > maxBodyBytes) throw new EndpointFault('an answer of more than 64 MiB')
    const events = kept(reader.push(piece))
    const bytes = masking.push(dropsUsage ? Buffer.concat(events) : piece)
    if (bytes.length > 0) yield bytes
  }
  const rest = reader.rest()
  const last = kept(rest === undefined ? [] : [rest])
  const bytes = Buffer.concat([dropsUsage ? masking.push(Buffer.concat(last)) : Buffer.alloc(0), masking.end()])
  if (bytes.length > 0) yield bytes
}
