import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import Anthropic from '@anthropic-ai/sdk'
import { modelCallSchema, type ModelCall, type PriceTable } from '@osworld-e2b/contracts'
import { secret } from '@osworld-e2b/redaction'
import OpenAI from 'openai'
import { afterEach } from 'vitest'
import { openModelGateway, type AttemptModel, type GatewayOptions, type GatewayTimings, type ModelGateway } from '../src/index.ts'

export const realKey = 'real-key-of-the-operator-0123456789'

/** No test waits for these: pauses are short, and time-outs are set where one is tested. */
export const quickTimings: Partial<GatewayTimings> = { backOffMs: 1, longestBackOffMs: 2, coolDownMs: 1, longestCoolDownMs: 5 }

export const prices: PriceTable = {
  schema_version: 1,
  models: {
    small: { input: '1.5', output: '6' },
    cached: { input: '3', output: '15', cached_input: '0.3', cache_write: '3.75' },
  },
}

export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export type Handler = (seen: Seen, response: ServerResponse, count: number) => void | Promise<void>

export interface TestEndpoint {
  readonly url: string
  readonly seen: Seen[]
  /** Requests that are not the gateway's probes. */
  calls(): Seen[]
  /** Most requests that were under way at once. */
  mostAtOnce(): number
  /** Requests whose connection is still open and unanswered. */
  openNow(): number
}

const releases: (() => void | Promise<void>)[] = []

/** Runs at the end of the test, in reverse order. */
export function atEnd(release: () => void | Promise<void>): void {
  releases.push(release)
}

afterEach(async () => {
  for (const release of releases.splice(0).reverse()) await release()
})

/** A real HTTP server on a free loopback port; `count` numbers the requests from 1, probes left out. */
export async function startEndpoint(handler: Handler): Promise<TestEndpoint> {
  const seen: Seen[] = []
  let open = 0
  let most = 0
  const isProbe = ({ method, headers }: Seen): boolean => method === 'GET' && headers['user-agent'] === undefined
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    open += 1
    most = Math.max(most, open)
    response.once('close', () => (open -= 1))
    const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: await buffer(request) }
    seen.push(one)
    await handler(one, response, isProbe(one) ? 0 : seen.filter((other) => !isProbe(other)).length)
  }
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  atEnd(async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen,
    calls: () => seen.filter((one) => !isProbe(one)),
    mostAtOnce: () => most,
    openNow: () => open,
  }
}

export interface Scene {
  readonly gateway: ModelGateway
  readonly callsFile: string
  open(): AttemptModel
  lines(file?: string): ModelCall[]
}

/** A gateway before endpoints labelled FIRST_URL, SECOND_URL… */
export async function startScene(endpoints: readonly (TestEndpoint | string)[], options: Partial<GatewayOptions> = {}): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-'))
  atEnd(() => rmSync(folder, { recursive: true }))
  const labels = ['FIRST_URL', 'SECOND_URL', 'THIRD_URL']
  const gateway = await openModelGateway({
    endpoints: endpoints.map((endpoint, index) => ({
      label: labels[index] ?? `URL_${index}`,
      url: typeof endpoint === 'string' ? endpoint : endpoint.url,
      apiKey: secret(realKey, 'model key'),
    })),
    callAttempts: 3,
    requestsBefore: 0,
    prices,
    keepContent: false,
    random: () => 0,
    ...options,
    timings: { ...quickTimings, ...options.timings },
  })
  atEnd(() => gateway.close())
  const callsFile = join(folder, 'model-calls.jsonl')
  return { gateway, callsFile, open: () => gateway.openAttempt({ callsFile }), lines: (file = callsFile) => readCalls(file) }
}

/** Every line, checked against the published schema. */
export function readCalls(file: string): ModelCall[] {
  const text = readFileSync(file, 'utf8')
  return text.split('\n').slice(0, -1).map((line) => modelCallSchema.parse(JSON.parse(line)))
}

export function openAi(attempt: AttemptModel): OpenAI {
  return new OpenAI({ baseURL: attempt.environment['OPENAI_BASE_URL'], apiKey: attempt.environment['OPENAI_API_KEY'] })
}

export function anthropic(attempt: AttemptModel): Anthropic {
  return new Anthropic({ baseURL: attempt.environment['ANTHROPIC_BASE_URL'], apiKey: attempt.environment['ANTHROPIC_API_KEY'] })
}

export function ask(attempt: AttemptModel, text: string, model = 'small'): Promise<OpenAI.ChatCompletion> {
  return openAi(attempt).chat.completions.create({ model, messages: [{ role: 'user', content: text }] })
}

export function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

export const chatUsage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }

export function sendChat(response: ServerResponse, text = 'hello', usage: unknown = chatUsage): void {
  const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text } }]
  sendJson(response, 200, { id: 'c1', object: 'chat.completion', created: 1, model: 'small', choices, usage })
}

export function sendError(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  sendJson(response, status, { error: { message: `told ${status}`, type: 'told_error', param: null, code: null } }, headers)
}

export function startStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
}

export function event(data: unknown, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

export function chatChunk(content: string, finish: string | null = null): string {
  const choices = [{ index: 0, delta: { content }, finish_reason: finish }]
  return event({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'small', choices })
}

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** One request with full control over path and headers. */
export async function raw(origin: string, path: string, options: RequestOptions & { readonly body?: string | Buffer } = {}): Promise<RawAnswer> {
  const { body, ...rest } = options
  const { hostname, port } = new URL(origin)
  const request = httpRequest({ host: hostname, port, path, agent: false, ...rest })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, headers: response.headers, body: (await buffer(response)).toString() }
}

/** Waits until the condition holds; fails after 10 s. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('The condition did not come true within 10 s.')
    await new Promise((resolve) => setImmediate(resolve))
  }
}

export async function aborted(signal: AbortSignal): Promise<Error> {
  if (!signal.aborted) await once(signal, 'abort')
  return signal.reason as Error
}
