import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { askEndpoint, EndpointFault, type Connections, type Reply } from './ask-endpoint.ts'
import type { EndpointPool } from './endpoint-pool.ts'
import type { Endpoint } from './endpoint.ts'
import type { GatewayTimings } from './gateway-options.ts'
import { requestHeaders } from './headers.ts'
import { describeStatus, judgeAnswer, streamed } from './judge-answer.ts'
import type { ModelGatewayError } from './model-gateway-error.ts'
import { pauseMs } from './pauses.ts'
import type { Release } from './permits.ts'
import { parseJson } from './request-body.ts'
import type { RequestBudget } from './request-budget.ts'
import { addressAt, type Route } from './wire.ts'

/** What the calls of all attempts share. */
export interface Desk {
  readonly pool: EndpointPool
  readonly budget: RequestBudget
  readonly connections: Connections
  readonly timings: GatewayTimings
  readonly callAttempts: number
  readonly random: () => number
}

export interface OutgoingCall {
  readonly home: Endpoint
  readonly route: Route
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly signal: AbortSignal
}

/** What is known of a call's tries, kept up to date while they go on. */
export interface TriesSoFar {
  tries: number
  endpoint: Endpoint | undefined
  /** Of the last failure, such as "status 502". */
  failure: string | undefined
  /** Whether a try may cost something: not one that did not arrive, or was answered with an error status, which services do not bill. */
  mayBeBilled: boolean
  /** The same of the tries before the last, whose cost nobody told. */
  wasBilledBefore: boolean
}

export interface PassedTry {
  readonly kind: 'passed'
  readonly verdict: 'answered' | 'rejected'
  readonly reply: Reply
  /** Parsed body; undefined for a stream and for what is not JSON. */
  readonly document: unknown
  readonly endpoint: Endpoint
  /** Due when the answer has been read. */
  readonly release: Release
}

export type TriesEnd =
  | PassedTry
  /** With the endpoint's last answer, if there was one. */
  | { readonly kind: 'failed'; readonly reply: Reply | undefined }
  | { readonly kind: 'refused'; readonly error: ModelGatewayError }
  | { readonly kind: 'abandoned' }

type TryEnd = PassedTry | { readonly kind: 'failed'; readonly reply: Reply | undefined; readonly forGood: boolean }

/** Asks endpoints until one gives an answer that is passed on, or the call's tries are used up. */
export async function tryCall(desk: Desk, call: OutgoingCall, soFar: TriesSoFar): Promise<TriesEnd> {
  const failed = new Set<Endpoint>()
  for (;;) {
    const endpoint = await chooseEndpoint(desk, call, failed)
    if (endpoint === undefined) soFar.failure ??= 'no endpoint may be asked'
    if (isGivenUp(call)) return { kind: 'abandoned' }
    if (endpoint === undefined) return { kind: 'failed', reply: undefined }
    const release = await endpoint.permits.acquire(call.signal)
    // Without a permit the endpoint went out while the call waited for it, or the call was given up.
    if (release === undefined) continue
    const refusal = desk.budget.take()
    if (refusal !== undefined) {
      release()
      return { kind: 'refused', error: refusal }
    }
    soFar.tries += 1
    soFar.endpoint = endpoint
    const end = await tryOnce(desk, call, { endpoint, release, soFar })
    if (end.kind === 'passed') return end
    release()
    if (isGivenUp(call)) return { kind: 'abandoned' }
    failed.add(endpoint)
    const next = desk.pool.choose(call.home, failed)
    if (soFar.tries >= desk.callAttempts || (end.forGood && next === undefined)) return end
    if (next !== undefined && !failed.has(next)) continue
    await pauseBefore(desk, call, { failures: soFar.tries, headers: end.reply?.headers ?? {} })
    failed.clear()
  }
}

function isGivenUp({ signal }: OutgoingCall): boolean {
  return signal.aborted
}

/** Waits while none may be asked and waiting may help; undefined when it does not. */
async function chooseEndpoint({ pool, timings }: Desk, { home, signal }: OutgoingCall, failed: ReadonlySet<Endpoint>): Promise<Endpoint | undefined> {
  const deadline = performance.now() + timings.outageMs
  for (;;) {
    const endpoint = pool.choose(home, failed)
    const leftMs = deadline - performance.now()
    if (endpoint !== undefined || signal.aborted || !pool.mayPass() || leftMs <= 0) return endpoint
    await pool.changed(leftMs, signal)
  }
}

interface OneTry {
  readonly endpoint: Endpoint
  readonly release: Release
  readonly soFar: TriesSoFar
}

async function tryOnce(desk: Desk, call: OutgoingCall, { endpoint, release, soFar }: OneTry): Promise<TryEnd> {
  const { route } = call
  endpoint.style = route.style
  soFar.wasBilledBefore = soFar.mayBeBilled
  soFar.mayBeBilled = true
  const reply = await askOnce(desk, call, endpoint)
  if (reply instanceof EndpointFault) {
    if (!reply.mayHaveArrived) soFar.mayBeBilled = soFar.wasBilledBefore
    if (!call.signal.aborted) {
      soFar.failure = reply.message
      desk.pool.failed(endpoint, { status: null, text: reply.message, forGood: false })
    }
    return { kind: 'failed', reply: undefined, forGood: false }
  }
  const document = Buffer.isBuffer(reply.body) ? parseJson(reply.body) : undefined
  const verdict = judgeAnswer(reply.status, route.api, Buffer.isBuffer(reply.body) ? document : streamed)
  if (reply.status >= 400) soFar.mayBeBilled = soFar.wasBilledBefore
  if (verdict === 'answered' || verdict === 'rejected') return { kind: 'passed', verdict, reply, document, endpoint, release }
  const forGood = verdict === 'for_good'
  soFar.failure = describeStatus(reply.status, document)
  desk.pool.failed(endpoint, { status: reply.status, text: soFar.failure, forGood })
  return { kind: 'failed', reply, forGood }
}

async function askOnce(desk: Desk, call: OutgoingCall, endpoint: Endpoint): Promise<Reply | EndpointFault> {
  const { connections, timings } = desk
  const { route, method, body, signal } = call
  const url = addressAt(endpoint.url, route)
  const headers = requestHeaders(call.headers, route.style, endpoint.apiKey)
  try {
    return await askEndpoint({ url, method, headers, body, connections, timings, signal })
  } catch (error) {
    if (error instanceof EndpointFault) return error
    throw error
  }
}

async function pauseBefore(desk: Desk, { signal }: OutgoingCall, last: { failures: number; headers: IncomingHttpHeaders }): Promise<void> {
  const { timings, random } = desk
  const ms = pauseMs({ ...last, timings, random, nowMs: Date.now() })
  try {
    await pause(ms, undefined, { signal })
  } catch (error) {
    // The caller sees that the call was given up.
    if (!signal.aborted) throw error
  }
}
