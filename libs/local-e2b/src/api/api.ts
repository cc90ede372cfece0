import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { sha256Hex } from '@osworld-e2b/inventory'
import type { Secret } from '@osworld-e2b/redaction'
import { LocalE2bError, describeError } from '../error.ts'
import type { Log } from '../server/log.ts'
import { errorBody, sendEmpty, sendError, sendJson } from './respond.ts'
import { matchRoute, type Reply, type Route } from './router.ts'

export type ApiHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

export interface ApiOptions {
  readonly apiKey: Secret
  readonly routes: readonly Route[]
  readonly log: Log
  readonly isClosing: () => boolean
}

/** Answers API requests: key check, route, reply, and E2B's error body for whatever a handler throws. */
export function apiHandler(options: ApiOptions): ApiHandler {
  const routes = [healthRoute(options.isClosing), ...options.routes]
  return async (request, response) => {
    try {
      const url = new URL(request.url ?? '/', 'http://local')
      const keyIsRight = isSameSecret(request.headers['x-api-key'], options.apiKey.reveal())
      const { route, parameters } = findRoute(routes, { method: request.method ?? 'GET', path: url.pathname, keyIsRight })
      const reply = await route.handle({ request, response, parameters, query: url.searchParams })
      leaveIfClosing(options, response)
      send(response, reply)
    } catch (error) {
      leaveIfClosing(options, response)
      if (errorBody(error).code === 500) options.log.error({ method: request.method, reason: describeError(error) }, 'an API request failed')
      sendError(response, error)
    } finally {
      // What is left of a refused body must not block the connection for the next request.
      request.resume()
    }
  }
}

/** Whoever looks for a server to use must not take one that is about to end. */
function healthRoute(isClosing: () => boolean): Route {
  return { method: 'GET', path: '/health', isPublic: true, handle: () => (isClosing() ? { status: 503, body: { status: 'closing' } } : { status: 200, body: { status: 'ok' } }) }
}

/** A connection that stayed open for a next request would hold up the end of the server. */
function leaveIfClosing({ isClosing }: ApiOptions, response: ServerResponse): void {
  if (isClosing() && !response.headersSent) response.setHeader('Connection', 'close')
}

/** Compares in constant time; digests have one length, so the length of the secret stays hidden too. */
export function isSameSecret(given: string | readonly string[] | undefined, secret: string): boolean {
  if (typeof given !== 'string') return false
  return timingSafeEqual(Buffer.from(sha256Hex(given)), Buffer.from(sha256Hex(secret)))
}

/** Without the right key only public routes exist: nobody learns which others do. */
function findRoute(routes: readonly Route[], request: { readonly method: string; readonly path: string; readonly keyIsRight: boolean }): ReturnType<typeof matchRoute> {
  const allowed = request.keyIsRight ? routes : routes.filter((route) => route.isPublic === true)
  try {
    return matchRoute(allowed, request.method, request.path)
  } catch (error) {
    if (request.keyIsRight) throw error
    throw new LocalE2bError('unauthorized', 'The API key is missing or wrong: send the key of server.json as X-API-KEY.', { cause: error })
  }
}

function send(response: ServerResponse, reply: Reply): void {
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value)
  if (reply.body === undefined) sendEmpty(response, reply.status)
  else sendJson(response, reply.status, reply.body)
}
