import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerOf } from './answer.ts'
import { type Delivery, sendAnswer, sendFault, sendJson } from './deliver.ts'
import { readModelRequest } from './model-request.ts'
import { createProgress, isFault, type Progress } from './progress.ts'
import type { FaultStep, Script } from './script.ts'
import { ScriptedEndpointError } from './scripted-endpoint-error.ts'
import { type Api, openaiError, type Wire } from './wire.ts'
import { chatWire } from './wire-chat.ts'
import { messagesWire } from './wire-messages.ts'
import { responsesWire } from './wire-responses.ts'

/** One request that reached the script, in the order of arrival. */
export interface ScriptedCall {
  readonly api: Api
  readonly model: string
  readonly isStreamed: boolean
  /** `match` of the task; undefined when it was about none. */
  readonly task: string | undefined
  /** Number of the step, from 0; past the last one is the script's `finally`. */
  readonly step: number
  /** Name of the fault that it met. */
  readonly fault: FaultStep['fault'] | undefined
  /** What the client showed as its key; undefined without one. */
  readonly key: string | undefined
  readonly texts: readonly string[]
}

export interface ScriptedEndpoint {
  /** `http://127.0.0.1:<port>`; OpenAI's clients want `/v1` after it, Anthropic's do not. */
  readonly url: string
  /** All calls so far; grows. */
  readonly calls: readonly ScriptedCall[]
  /** Ends what hangs, too. */
  close(): Promise<void>
}

export interface ScriptedEndpointOptions {
  readonly script: Script
  /** Any free one when absent. */
  readonly port?: number
  readonly now?: () => Date
  readonly onCall?: (call: ScriptedCall) => void
}

/** Requests are larger only by mistake: an agent's pictures are some MiB. */
const mostBodyBytes = 64 * 1024 * 1024

const wires: Readonly<Record<Api, Wire>> = { chat: chatWire, responses: responsesWire, messages: messagesWire }
const apis: ReadonlyMap<string, Api> = new Map([
  ['/chat/completions', 'chat'],
  ['/responses', 'responses'],
  ['/messages', 'messages'],
])

/**
 * Answers OpenAI's chat completions and responses and Anthropic's messages from a script, on 127.0.0.1 only. Throws
 * `cannot_listen`.
 */
export async function startScriptedEndpoint(options: ScriptedEndpointOptions): Promise<ScriptedEndpoint> {
  const calls: ScriptedCall[] = []
  const endpoint = { script: options.script, progress: createProgress(options.script), now: options.now ?? (() => new Date()) }
  const onCall = (call: ScriptedCall) => {
    calls.push(call)
    options.onCall?.(call)
    return calls.length
  }
  const server = createServer((request, response) => {
    // A client that leaves in the middle of its request has no answer coming.
    handle(request, response, { ...endpoint, onCall }).catch(() => response.destroy())
  })
  await listen(server, options.port ?? 0)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Endpoint {
  readonly script: Script
  readonly progress: Progress
  readonly now: () => Date
  /** Gives the number of the call. */
  onCall(call: ScriptedCall): number
}

async function handle(request: IncomingMessage, response: ServerResponse, endpoint: Endpoint): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://127.0.0.1').pathname.replace(/^\/v1(?=\/)/, '')
  if (request.method === 'GET' && path === '/models') {
    await sendJson(response, 200, { object: 'list', data: endpoint.script.models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'scripted' })) })
    return
  }
  const api = request.method === 'POST' ? apis.get(path) : undefined
  const body = await readBody(request)
  if (api === undefined) await sendJson(response, 404, openaiError(404, `There is no ${request.method ?? ''} ${path} here.`))
  else if (body === undefined) await sendJson(response, 413, wires[api].error(413, `The request is larger than ${mostBodyBytes} bytes.`))
  else await answer({ api, body, key: keyOf(request) }, response, endpoint)
}

async function answer({ api, body, key }: { readonly api: Api; readonly body: string; readonly key: string | undefined }, response: ServerResponse, endpoint: Endpoint): Promise<void> {
  const wire = wires[api]
  const request = readModelRequest(body)
  if (request === undefined) {
    await sendJson(response, 400, wire.error(400, 'The request is no JSON object with a model.'))
    return
  }
  const { task, index, step, given } = endpoint.progress.turnOf(request.texts)
  const { model, isStreamed, texts } = request
  const number = endpoint.onCall({ api, model, isStreamed, task, step: index, fault: isFault(step) ? step.fault : undefined, key, texts })
  const about = { number, now: endpoint.now() }
  const delivery: Delivery = { response, wire, request }
  if (!isFault(step)) {
    if (await sendAnswer(answerOf(step, request, about), delivery)) given()
    return
  }
  // Counted before it is shown: a client that hangs up on a fault has seen it.
  given()
  await sendFault(step, answerOf({ text: 'This answer ends in its middle.' }, request, about), delivery)
}

function keyOf({ headers }: IncomingMessage): string | undefined {
  const [given] = [headers['x-api-key']].flat()
  return given ?? headers.authorization?.replace(/^Bearer /, '')
}

/** Undefined when it is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= mostBodyBytes) chunks.push(chunk)
  }
  return bytes > mostBodyBytes ? undefined : Buffer.concat(chunks).toString('utf8')
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new ScriptedEndpointError('cannot_listen', `Port ${port} of 127.0.0.1 cannot be listened on (${error.message}); choose another with --port, or none for any free one.`, { cause: error })))
    server.listen(port, '127.0.0.1', () => resolve())
  })
}
