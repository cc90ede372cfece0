import { request as httpRequest, type IncomingMessage } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { LocalE2bError } from '../error.ts'

export interface AgentRequest {
  readonly agentSocket: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** A stream is sent chunked. */
  readonly body?: string | Buffer | Readable
  readonly signal?: AbortSignal
}

/** One request to a guest agent; resolves when the reply's head is there, else throws `agent_unreachable`. */
export function requestAgent(asked: AgentRequest): Promise<IncomingMessage> {
  const { agentSocket, body = '' } = asked
  const isWhole = typeof body === 'string' || Buffer.isBuffer(body)
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      socketPath: agentSocket,
      method: asked.method,
      path: asked.path,
      headers: { ...asked.headers, ...(isWhole ? { 'content-length': Buffer.byteLength(body) } : {}) },
      agent: false,
      ...(asked.signal === undefined ? {} : { signal: asked.signal }),
    })
    const refuse = (cause: Error) => {
      reject(new LocalE2bError('agent_unreachable', `The guest agent at ${agentSocket} did not answer ${asked.path}: ${cause.message}`, { cause }))
    }
    request.once('response', resolve)
    request.on('error', refuse)
    if (isWhole) request.end(body)
    else pipeline(body, request, (error) => { if (error) refuse(error) })
  })
}

/** Header that selects the account a request runs as; none leaves the sandbox's default. */
export function authorization(user: string | undefined): Readonly<Record<string, string>> {
  return user === undefined ? {} : { authorization: `Basic ${Buffer.from(`${user}:`).toString('base64')}` }
}
