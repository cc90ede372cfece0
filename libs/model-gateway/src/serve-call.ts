import { sha256Hex } from '@osworld-e2b/inventory'
import type { Attempt } from './attempt.ts'
import type { Reply } from './ask-endpoint.ts'
import { CallInProgress, type CallEnd, type Counter, type Visit } from './call-in-progress.ts'
import { maxBodyBytes } from './gateway-options.ts'
import { answerHeaders } from './headers.ts'
import { readBody } from './read-body.ts'
import { relayStream } from './relay-stream.ts'
import { parseJson, readAskedFor } from './request-body.ts'
import { tokensOf } from './tokens.ts'
import { tryCall, type PassedTry } from './try-call.ts'
import { errorBody, hasErrorShape, isRecord } from './wire.ts'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Serves one call of an attempt from its arrival to its record. */
export async function serveCall(counter: Counter, attempt: Attempt, visit: Visit): Promise<void> {
  const call = new CallInProgress(counter, attempt, visit)
  const release = await attempt.slots.acquire(call.signal)
  try {
    const body = release === undefined ? undefined : await readBody(visit.request, maxBodyBytes, call.signal)
    if (body === undefined) call.end({ outcome: 'abandoned', status: null })
    else if (body === 'too_large') refuseSize(call)
    else await serveBody(call, body)
  } finally {
    release?.()
    // Whatever was left open is broken off, so that the agent does not wait for it.
    if (!visit.response.writableEnded) visit.response.destroy()
  }
}

function refuseSize(call: CallInProgress): void {
  const error = ownError(call, { status: 413, type: 'request_too_large', message: 'The request is larger than 64 MiB; send fewer or smaller pictures.' })
  answer(call, { outcome: 'rejected', status: 413 }, error)
}

async function serveBody(call: CallInProgress, body: Buffer): Promise<void> {
  const { counter, attempt, visit, soFar, signal } = call
  const { method = 'GET', headers } = visit.request
  call.asked = readAskedFor(visit.route.api, body)
  if (method !== 'GET' && method !== 'HEAD') arrive(call, `${method} ${visit.route.rest}${visit.route.query} ${sha256Hex(body)}`)
  const question = { home: attempt.home, route: visit.route, method, headers, body: call.asked.body, signal }
  let end = await tryCall(counter.desk, question, soFar)
  if (end.kind === 'passed' && end.verdict === 'rejected' && call.asked.addedUsage) {
    // Not the agent's fault if it is of what was added.
    end.release()
    call.asked = { ...call.asked, body, addedUsage: false }
    end = await tryCall(counter.desk, { ...question, body }, soFar)
  }
  switch (end.kind) {
    case 'passed':
      return pass(call, end)
    case 'failed':
      fail(call, end.reply)
      return
    case 'refused':
      if (call.fingerprint !== undefined) attempt.unrecovered.refused(call.fingerprint, end.error)
      attempt.end(end.error)
      answer(call, { outcome: 'refused', status: 429 }, ownError(call, { status: 429, type: 'insufficient_quota', message: end.error.message }))
      return
    case 'abandoned':
      call.end({ outcome: 'abandoned', status: null })
  }
}

function arrive(call: CallInProgress, fingerprint: string): void {
  call.fingerprint = fingerprint
  const swallowed = call.attempt.unrecovered.arrived(fingerprint)
  if (swallowed !== undefined) call.attempt.end(swallowed)
}

async function pass(call: CallInProgress, passed: PassedTry): Promise<void> {
  const { body } = passed.reply
  call.noteFirstByte()
  try {
    if (Buffer.isBuffer(body)) passWhole(call, passed, body)
    else await passStream(call, passed, body)
  } finally {
    passed.release()
  }
}

function passWhole(call: CallInProgress, { verdict, reply, document, endpoint }: PassedTry, bytes: Buffer): void {
  const { keyMask, errorMask, desk } = call.counter
  const mask = verdict === 'answered' ? keyMask : errorMask
  const usage = verdict === 'answered' && isRecord(document) ? document['usage'] : undefined
  desk.pool.succeeded(endpoint)
  answer(
    call,
    { outcome: verdict, status: reply.status, tokens: tokensOf(call.visit.route.api, usage), content: (verdict === 'answered' ? bytes : mask.bytes(bytes)).toString() },
    { status: reply.status, headers: answerHeaders(reply.headers, mask.text), body: mask.bytes(bytes) },
  )
}

async function passStream(call: CallInProgress, { reply, endpoint }: PassedTry, pieces: AsyncIterable<Buffer>): Promise<void> {
  const { counter, visit, soFar, signal } = call
  const { response, route } = visit
  response.writeHead(reply.status, answerHeaders(reply.headers, counter.keyMask.text))
  const dropsUsage = call.asked?.addedUsage ?? false
  const end = await relayStream({ api: route.api, pieces, response, mask: counter.keyMask, dropsUsage, keepsText: counter.keepContent, signal })
  soFar.failure = end.failure ?? soFar.failure
  if (end.outcome === 'failed') counter.desk.pool.failed(endpoint, { status: null, text: end.failure ?? 'no answer', forGood: false })
  else if (end.outcome !== 'abandoned') counter.desk.pool.succeeded(endpoint)
  call.end({ outcome: end.outcome, status: reply.status, tokens: end.tokens, content: end.text })
  // A stream that did not come to its end is broken off, so that the agent's client sees it.
  if (end.outcome === 'failed' || end.outcome === 'abandoned') response.destroy()
  else response.end()
}

/** Answers with the endpoint's last error where it has the API's shape. */
function fail(call: CallInProgress, reply: Reply | undefined): void {
  const { errorMask } = call.counter
  const own = ownError(call, { status: failedStatus(call, reply), type: 'api_error', message: `${call.failureText()}.` })
  const bytes = reply !== undefined && Buffer.isBuffer(reply.body) ? reply.body : Buffer.alloc(0)
  const isPassedOn = reply !== undefined && hasErrorShape(parseJson(bytes))
  const headers = isPassedOn ? { ...answerHeaders(reply.headers, errorMask.text), ...own.headers } : own.headers
  answer(call, { outcome: 'failed', status: own.status, content: errorMask.bytes(bytes).toString() }, { status: own.status, headers, body: isPassedOn ? errorMask.bytes(bytes) : own.body })
}

function failedStatus({ soFar }: CallInProgress, reply: Reply | undefined): number {
  if (reply !== undefined) return reply.status >= 400 ? reply.status : 502
  if (soFar.tries === 0) return 503
  return soFar.failure === 'no answer in time' ? 504 : 502
}

function ownError({ visit }: CallInProgress, error: { readonly status: number; readonly type: string; readonly message: string }): Answer {
  // Without the second header clients would repeat what has been repeated here.
  const headers = { 'content-type': 'application/json', 'x-should-retry': 'false' }
  return { status: error.status, headers, body: errorBody(visit.route.style, error) }
}

function answer(call: CallInProgress, end: CallEnd, { status, headers, body }: Answer): void {
  call.end(end)
  call.visit.response.writeHead(status, { ...headers, 'content-length': body.length })
  call.visit.response.end(body)
}
