import type { ModelApi } from '@osworld-e2b/contracts'
import { isRecord } from './wire.ts'

/** What the gateway reads in a request's body. */
export interface AskedFor {
  readonly model: string | null
  readonly stream: boolean
  /** As it is to be sent; differs from the agent's only when usage was added. */
  readonly body: Buffer
  /** Whether a streamed chat was made to tell its usage, which the agent did not ask for. */
  readonly addedUsage: boolean
}

/** Reads a body; one that is not a JSON object is left to the endpoint's judgement. */
export function readAskedFor(api: ModelApi, body: Buffer): AskedFor {
  const asked = parseJson(body)
  if (!isRecord(asked)) return { model: null, stream: false, body, addedUsage: false }
  const model = typeof asked['model'] === 'string' ? asked['model'] : null
  const stream = asked['stream'] === true
  const withUsage = api === 'openai_chat' && stream ? withStreamUsage(body, asked) : undefined
  return { model, stream, body: withUsage ?? body, addedUsage: withUsage !== undefined }
}

/** Undefined when the text is not JSON. */
export function parseJson(text: Buffer | string): unknown {
  try {
    return JSON.parse(text.toString())
  } catch {
    // Callers treat what is not JSON as a body that tells nothing.
    return undefined
  }
}

/** Undefined when the agent asked for the usage itself. A new member is put in front, so that all other bytes stay as they were. */
function withStreamUsage(body: Buffer, asked: Readonly<Record<string, unknown>>): Buffer | undefined {
  const options = asked['stream_options']
  if (isRecord(options) && options['include_usage'] === true) return undefined
  if ('stream_options' in asked) {
    return Buffer.from(JSON.stringify({ ...asked, stream_options: { ...(isRecord(options) ? options : {}), include_usage: true } }))
  }
  const start = body.indexOf('{') + 1
  return Buffer.concat([body.subarray(0, start), Buffer.from('"stream_options":{"include_usage":true},'), body.subarray(start)])
}
