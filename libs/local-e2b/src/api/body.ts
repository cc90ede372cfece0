import type { IncomingMessage } from 'node:http'
import { parseJsonDocument } from '@osworld-e2b/contracts'
import type { z } from 'zod'
import { LocalE2bError } from '../error.ts'

/** API bodies are small; build recipes are the largest. */
const largestBodyBytes = 16 * 1024 * 1024

/** Reads and checks a JSON body; an absent one counts as `{}`. Throws a sentence that names the field. */
export async function readBody<Schema extends z.ZodType>(request: IncomingMessage, schema: Schema): Promise<z.output<Schema>> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > largestBodyBytes) throw new LocalE2bError('bad_request', `The request body is larger than ${largestBodyBytes} bytes.`)
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  return parseJsonDocument(schema, 'The request body', text.trim() === '' ? '{}' : text)
}
