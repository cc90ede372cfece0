import { Agent as HttpAgent, type ClientRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import httpProxy from 'http-proxy'
import { holdsAddresses, rewriteAddresses } from './cdp-answer.ts'
import { answerHeaders, requestHeaders, withoutHeaders } from './headers.ts'
import type { Lane } from './lane.ts'
import { maskToken, tokenMask } from './mask-token.ts'
import { answerAsRelay, sandboxGone } from './relay-answer.ts'
import { describe, mayRetry, pathOf, retryPausesMs } from './retry.ts'
import type { TargetEndpoint } from './target.ts'

/** Shorter than a server's usual 5 s, so that a request seldom meets a connection that is just being closed. */
const idleConnectionMs = 4_000
const maxDocumentBytes = 16 * 1024 * 1024
/** Statuses that the sandbox's edge gives in place of the guest. */
const edgeStatuses = new Set([429, 502, 503, 504])

type Agent = HttpAgent | HttpsAgent

/** Keep-alive connections towards one origin; no limit on their number and none on a request's length. */
export function keepAliveAgent(baseUrl: string): Agent {
  const options = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 64, timeout: idleConnectionMs }
  return baseUrl.startsWith('https:') ? new HttpsAgent(options) : new HttpAgent(options)
}

/** One request on its way: the client's two sides, and the request that stands for it towards the sandbox. */
interface Exchange {
  readonly lane: Lane
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly endpoint: TargetEndpoint
  readonly agent: Agent
  readonly incomingHeaders: IncomingMessage['headers']
  outgoing?: ClientRequest
  tries: number
  answered: boolean
  /** Who broke the exchange off; the first one counts, since each break brings the other side down as well. */
  brokenBy?: 'client' | 'guest' | 'relay'
}

const exchanges = new WeakMap<IncomingMessage, Exchange>()
const proxy = makeProxy()

export interface ForwardRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly endpoint: TargetEndpoint
  readonly agent: Agent
}

/** Forwards one HTTP request to the sandbox and its answer back, both as streams. */
export function forwardHttp(lane: Lane, { request, response, endpoint, agent }: ForwardRequest): void {
  const exchange: Exchange = {
    lane, request, response, endpoint, agent, incomingHeaders: { ...request.headers }, tries: 0, answered: false,
  }
  exchanges.set(request, exchange)
  const startedAt = performance.now()
  const release = lane.hold(() => {
    exchange.brokenBy ??= 'relay'
    exchange.outgoing?.destroy()
    answerAsRelay(response, sandboxGone)
  })
  response.once('close', () => {
    release()
    if (response.writableFinished) return
    exchange.brokenBy ??= 'client'
    // Once a request is read whole, http-proxy no longer notices that its client has left.
    exchange.outgoing?.destroy()
    if (exchange.brokenBy === 'client') report(exchange, { event: 'request_aborted', seconds: (performance.now() - startedAt) / 1_000 })
  })
  send(exchange)
}

function send(exchange: Exchange): void {
  exchange.tries += 1
  const options = { target: exchange.endpoint.baseUrl, agent: exchange.agent, toProxy: true, prependPath: false, selfHandleResponse: true }
  proxy.web(exchange.request, exchange.response, options, (error) => onFailure(exchange, error))
}

function makeProxy(): httpProxy {
  const made = httpProxy.createProxyServer({})
  // Headers are set here and not earlier: http-proxy gives a DELETE with a chunked body a length of 0 before this point.
  made.on('start', (request) => {
    const exchange = exchanges.get(request)
    if (exchange === undefined) return
    const headers = requestHeaders(exchange.incomingHeaders, exchange.endpoint)
    // A compressed document could not be rewritten.
    if (asksForAddresses(exchange)) delete headers['accept-encoding']
    Object.assign(request, { headers })
  })
  made.on('proxyReq', (outgoing, request, response) => {
    const exchange = exchanges.get(request)
    if (exchange === undefined) return
    exchange.outgoing = outgoing
    // http-proxy joins repeated slashes; the guest gets the path as the client wrote it.
    outgoing.path = request.url ?? '/'
    if (response.destroyed) outgoing.destroy()
  })
  made.on('proxyRes', (answer, request) => {
    const exchange = exchanges.get(request)
    if (exchange === undefined) return
    exchange.answered = true
    answer.once('error', () => {
      exchange.brokenBy ??= 'guest'
    })
    relayAnswer(exchange, answer).catch((error: unknown) => onBrokenAnswer(exchange, error))
  })
  return made
}

function onFailure(exchange: Exchange, error: Error): void {
  const { request, response, tries } = exchange
  if (exchange.answered || exchange.brokenBy !== undefined) return
  const pauseMs = retryPausesMs[tries - 1]
  if (pauseMs !== undefined && mayRetry(request, exchange.incomingHeaders, error)) {
    setTimeout(() => {
      if (exchange.brokenBy === undefined) send(exchange)
    }, pauseMs)
    return
  }
  exchange.brokenBy = 'guest'
  report(exchange, { event: 'request_failed', tries, message: describe(error) })
  answerAsRelay(response, {
    status: 502,
    reason: 'sandbox_unreachable',
    message: `The sandbox could not be reached (${describe(error)}; tries: ${tries}).`,
  })
}

async function relayAnswer(exchange: Exchange, answer: IncomingMessage): Promise<void> {
  const { response } = exchange
  const status = answer.statusCode ?? 502
  if (edgeStatuses.has(status)) report(exchange, { event: 'request_refused', status })
  const token = exchange.endpoint.trafficToken.reveal()
  const headers = answerHeaders(answer.rawHeaders, token)
  response.sendDate = false
  if (asksForAddresses(exchange)) {
    await relayDocument(exchange, answer, headers)
    return
  }
  response.writeHead(status, answer.statusMessage, headers)
  response.flushHeaders()
  await pipeline(answer, tokenMask(token), response)
}

function asksForAddresses({ lane, request }: Exchange): boolean {
  return lane.name === 'cdp' && request.method !== 'HEAD' && holdsAddresses(pathOf(request))
}

async function relayDocument(exchange: Exchange, answer: IncomingMessage, headers: string[]): Promise<void> {
  let length = 0
  answer.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > maxDocumentBytes) answer.destroy(new Error(`A /json answer is longer than ${maxDocumentBytes} bytes.`))
  })
  const body = maskToken(await buffer(answer), Buffer.from(exchange.endpoint.trafficToken.reveal()))
  const rewritten = rewriteAddresses(body.toString('utf8'), exchange.lane.address())
  const sent = rewritten === undefined ? body : Buffer.from(rewritten)
  exchange.response.writeHead(answer.statusCode ?? 502, answer.statusMessage, [
    ...withoutHeaders(headers, ['content-length']),
    'Content-Length',
    String(sent.length),
  ])
  exchange.response.end(sent)
}

/** The answer broke off: the client must see a broken connection and not a short answer. */
function onBrokenAnswer(exchange: Exchange, error: unknown): void {
  exchange.brokenBy ??= 'guest'
  if (exchange.brokenBy === 'guest') report(exchange, { event: 'request_failed', tries: exchange.tries, message: describe(error) })
  exchange.outgoing?.destroy()
  exchange.response.destroy()
}

type Detail =
  | { readonly event: 'request_failed'; readonly tries: number; readonly message: string }
  | { readonly event: 'request_refused'; readonly status: number }
  | { readonly event: 'request_aborted'; readonly seconds: number }

function report(exchange: Exchange, detail: Detail): void {
  const { lane, request } = exchange
  lane.report({ port: lane.name, method: request.method ?? 'GET', path: pathOf(request), ...detail })
}
