import type { IncomingMessage } from 'node:http'
import { authorization, requestAgent } from '../../src/agent-client/agent-request.ts'
import { readEnvelopes } from '../../src/agent-client/envelopes.ts'
import { runInSandbox } from '../../src/agent-client/index.ts'

export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a line by bash in a sandbox. */
export async function bash(agentSocket: string, line: string, place: { user?: string; cwd?: string; environment?: Record<string, string> } = {}): Promise<Ran> {
  const said = { stdout: '', stderr: '' }
  const onOutput = (stream: 'stdout' | 'stderr', chunk: Buffer) => { said[stream] += chunk.toString() }
  const { exitCode } = await runInSandbox({ agentSocket, command: ['/bin/bash', '-c', line], onOutput, ...place })
  return { exitCode, ...said }
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly bytes: Buffer
}

export async function send(agentSocket: string, request: { method: 'GET' | 'POST'; path: string; headers?: Record<string, string>; body?: string | Buffer }): Promise<Reply> {
  const response = await requestAgent({ agentSocket, ...request })
  const chunks: Buffer[] = []
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk)
  return { status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }
}

/** A unary call; gives the status with the decoded reply. */
export async function call(agentSocket: string, method: string, message: object, user?: string): Promise<{ status: number; reply: Record<string, unknown> }> {
  const headers = { 'content-type': 'application/json', ...authorization(user) }
  const { status, bytes } = await send(agentSocket, { method: 'POST', path: `/${method}`, headers, body: JSON.stringify(message) })
  return { status, reply: JSON.parse(bytes.toString()) as Record<string, unknown> }
}

export interface StreamMessage {
  readonly event?: {
    readonly start?: { readonly pid: number }
    readonly data?: { readonly stdout?: string; readonly stderr?: string }
    readonly keepalive?: object
    readonly end?: { readonly exitCode: number; readonly exited: boolean; readonly status: string }
  }
  readonly start?: object
  readonly keepalive?: object
  readonly filesystem?: { readonly name: string; readonly type: string; readonly entry?: { readonly path: string } }
  readonly error?: { readonly code: string; readonly message: string }
}

export interface OpenStream {
  next(): Promise<StreamMessage | undefined>
  /** All that is left, up to the closing envelope. */
  rest(): Promise<readonly StreamMessage[]>
  leave(): void
}

export async function open(agentSocket: string, method: string, message: object, headers: Record<string, string> = {}): Promise<OpenStream> {
  const body = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(5)
  head.writeUInt32BE(body.length, 1)
  const response = await requestAgent({
    agentSocket,
    method: 'POST',
    path: `/${method}`,
    headers: { 'content-type': 'application/connect+json', ...headers },
    body: Buffer.concat([head, body]),
  })
  const messages = readEnvelopes(response) as AsyncGenerator<StreamMessage, undefined>
  const next = async () => {
    const result = await messages.next()
    return result.done === true ? undefined : result.value
  }
  return {
    next,
    rest: async () => {
      const found: StreamMessage[] = []
      for (let message = await next(); message !== undefined; message = await next()) found.push(message)
      return found
    },
    leave: () => response.destroy(),
  }
}

/** Start request for a line of bash. */
export function shell(line: string, more: object = {}): object {
  return { process: { cmd: '/bin/bash', args: ['-c', line] }, ...more }
}
