import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ModelUsage } from '@osworld-e2b/contracts'
import { createRedactor, type Redactor } from '@osworld-e2b/redaction'
import { openConnections, type Connections } from './ask-endpoint.ts'
import { Attempt } from './attempt.ts'
import type { Counter } from './call-in-progress.ts'
import { EndpointPool } from './endpoint-pool.ts'
import { endpointsOf, type Endpoint } from './endpoint.ts'
import { defaultFailuresUntilOut, defaultTimings, type GatewayOptions } from './gateway-options.ts'
import { isFromBrowser, keyOf } from './headers.ts'
import { Mask } from './mask.ts'
import { ModelGatewayError } from './model-gateway-error.ts'
import { probe } from './probe.ts'
import { RequestBudget } from './request-budget.ts'
import { serveCall } from './serve-call.ts'
import { errorBody, routeOf, type WireError, type WireStyle } from './wire.ts'

/** A shorter key is a placeholder such as `EMPTY`, which may stand in any answer of a model. */
const shortestHiddenKey = 16
/** Longer than clients keep idle connections, so that none is closed under a request. */
const keepAliveMs = 120_000

export interface AttemptModel {
  /** `osw-` and 48 hexadecimal digits; valid until `close`. */
  readonly key: string
  /** Label of the endpoint that is asked first. */
  readonly endpoint: string
  /** What clients of OpenAI and Anthropic read. */
  readonly environment: Readonly<Record<string, string>>
  /** Aborts with a `ModelGatewayError` when the agent went on without an answer, or a cap refused a call. */
  readonly swallowed: AbortSignal
  /** Sums over the calls that ended so far. */
  usage(): ModelUsage
  /**
   * Stops the key, abandons what is under way and writes out `model-calls.jsonl`; `failure` is a sentence about the first call without an
   * answer. Throws a `ModelGatewayError` when calls could not be written; `usage` still tells their sums.
   */
  close(): Promise<{ readonly usage: ModelUsage; readonly failure: string | undefined }>
}

export interface ModelHealth {
  /** One sentence: which endpoints are out and why, without an address or a key. */
  describe(): string
  /** Resolves when an endpoint went out or came back, or after so many milliseconds. */
  changed(timeoutMs: number): Promise<void>
}

export interface ModelGateway {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  /** `callsFile` is opened at once, so its folder has to exist. */
  openAttempt(options: { readonly callsFile: string }): AttemptModel
  /** False while no endpoint may be asked; becomes true again without any call. */
  isHealthy(): boolean
  readonly health: ModelHealth
  /** Requests sent to endpoints, those before this start included. */
  requestsSent(): number
  /** Closes the attempts, the probes and the listener. */
  close(): Promise<void>
}

/** Opens the gateway on a free loopback port; throws a `ModelGatewayError` for an endpoint or a listener that cannot be. */
export async function openModelGateway(options: GatewayOptions): Promise<ModelGateway> {
  const gateway = new Gateway(options)
  await gateway.listen()
  return gateway
}

class Gateway implements ModelGateway {
  readonly #server: Server
  readonly #connections: Connections = openConnections()
  readonly #pool: EndpointPool
  readonly #budget: RequestBudget
  readonly #redactor: Redactor
  readonly #counter: Counter
  readonly #attempts = new Map<string, Attempt>()
  #isClosed = false
  origin = ''

  constructor(options: GatewayOptions) {
    const endpoints = endpointsOf(options.endpoints, options.failuresUntilOut ?? defaultFailuresUntilOut)
    const timings = { ...defaultTimings, ...options.timings }
    const connections = this.#connections
    // Refuses keys that are too short before anything runs.
    this.#redactor = createRedactor(endpoints.flatMap(({ apiKey }) => apiKey ?? []))
    this.#pool = new EndpointPool({ endpoints, timings, probe: (endpoint, signal) => probe({ connections, timings }, endpoint, signal) })
    this.#budget = new RequestBudget(options.requestCap, options.requestsBefore)
    const desk = {
      pool: this.#pool, budget: this.#budget, connections, timings, callAttempts: options.callAttempts, random: options.random ?? Math.random,
    }
    this.#counter = { desk, prices: options.prices, keepContent: options.keepContent, ...masksFor(endpoints) }
    this.#server = createServer((request, response) => this.#receive(request, response))
    this.#server.keepAliveTimeout = keepAliveMs
  }

  readonly health: ModelHealth = {
    describe: () => this.#pool.describe(),
    changed: (timeoutMs) => this.#pool.changed(timeoutMs),
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    try {
      await once(this.#server, 'listening')
    } catch (error) {
      throw new ModelGatewayError('bind_failed', 'The model gateway cannot listen on 127.0.0.1; see why the loopback interface refuses a listener.', error)
    }
    this.origin = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  openAttempt({ callsFile }: { readonly callsFile: string }): AttemptModel {
    if (this.#isClosed) throw new ModelGatewayError('closed', 'The model gateway is closed; open a new one for further attempts.')
    const attempt = new Attempt({ callsFile, home: this.#pool.nextInRotation(), redactor: this.#redactor })
    this.#attempts.set(attempt.key, attempt)
    return {
      key: attempt.key,
      endpoint: attempt.home.label,
      environment: environmentOf(this.origin, attempt.key),
      swallowed: attempt.swallowed,
      usage: () => attempt.usage(),
      close: () => {
        this.#attempts.delete(attempt.key)
        return attempt.close()
      },
    }
  }

  isHealthy(): boolean {
    return this.#pool.isHealthy()
  }

  requestsSent(): number {
    return this.#budget.sent
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#pool.close()
    const attempts = [...this.#attempts.values()]
    this.#attempts.clear()
    const ends = await Promise.allSettled(attempts.map((attempt) => attempt.close()))
    const closed = this.#server.listening ? once(this.#server, 'close') : Promise.resolve()
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
    this.#connections.http.destroy()
    this.#connections.https.destroy()
    const lost = ends.find((end) => end.status === 'rejected')
    if (lost !== undefined) throw lost.reason
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const { headers, method = 'GET', url = '/' } = request
    const route = routeOf(method, url, headers['x-api-key'] !== undefined)
    const style = route?.style ?? 'openai'
    const attempt = this.#attempts.get(keyOf(headers) ?? '')
    if (isFromBrowser(headers)) refuse(response, style, { status: 403, type: 'permission_error', message: 'The model gateway serves no browsers.' })
    else if (attempt === undefined) {
      refuse(response, style, { status: 401, type: 'authentication_error', message: 'The key is not valid here; a key is good for one attempt while it runs.' })
    } else if (route === undefined) {
      refuse(response, style, { status: 404, type: 'not_found_error', message: 'The model gateway serves only what is below /v1.' })
    } else attempt.run(() => serveCall(this.#counter, attempt, { request, response, route }))
  }
}

function refuse(response: ServerResponse, style: WireStyle, error: WireError): void {
  const body = errorBody(style, error)
  response.writeHead(error.status, { 'content-type': 'application/json', 'content-length': body.length, 'x-should-retry': 'false', connection: 'close' })
  response.end(body)
}

function masksFor(endpoints: readonly Endpoint[]): Pick<Counter, 'keyMask' | 'errorMask'> {
  const keys = endpoints.flatMap(({ apiKey }) => apiKey?.reveal() ?? []).filter((key) => key.length >= shortestHiddenKey)
  // A bare word such as `model` may be part of an error's own words.
  const hosts = endpoints.flatMap(({ url }) => [new URL(url).host, new URL(url).hostname]).filter((host) => /[.:]/.test(host))
  return { keyMask: new Mask(keys), errorMask: new Mask([...keys, ...hosts]) }
}

function environmentOf(origin: string, key: string): Readonly<Record<string, string>> {
  return { OPENAI_BASE_URL: `${origin}/v1`, OPENAI_API_BASE: `${origin}/v1`, OPENAI_API_KEY: key, ANTHROPIC_BASE_URL: origin, ANTHROPIC_API_KEY: key }
}
