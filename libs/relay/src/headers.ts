import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { TargetEndpoint } from './target.ts'

export const trafficTokenHeader = 'e2b-traffic-access-token'

/** Headers that concern one connection and not the message (RFC 9110, section 7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Names that only we may set towards the sandbox and that no answer may show. */
function isOurs(name: string): boolean {
  return name.startsWith('e2b-') || name === 'x-access-token'
}

function namedByConnection(connection: string | undefined): ReadonlySet<string> {
  return new Set((connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
}

/**
 * Headers of a request towards the sandbox: what the client sent, without what belongs to its connection and without
 * copies of ours, and then ours. `expect` goes as well: the listener has already answered it.
 */
export function requestHeaders(incoming: IncomingHttpHeaders, endpoint: TargetEndpoint): OutgoingHttpHeaders {
  const dropped = namedByConnection(incoming.connection)
  const kept = Object.entries(incoming).filter(
    ([name]) => !hopByHop.has(name) && !isOurs(name) && !dropped.has(name) && name !== 'expect' && name !== 'host',
  )
  return {
    ...Object.fromEntries(kept),
    ...bodyFraming(incoming),
    host: endpoint.host,
    ...endpoint.headers,
    [trafficTokenHeader]: endpoint.trafficToken.reveal(),
  }
}

/** A chunked body must be announced again, or its bytes would be read as the connection's next request. */
function bodyFraming(incoming: IncomingHttpHeaders): OutgoingHttpHeaders {
  return incoming['transfer-encoding'] === undefined ? {} : { 'transfer-encoding': 'chunked' }
}

/** The same for a WebSocket handshake, whose own headers the next hop's client makes afresh. */
export function handshakeHeaders(incoming: IncomingHttpHeaders, endpoint: TargetEndpoint): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(requestHeaders(incoming, endpoint))) {
    if (value === undefined || name.startsWith('sec-websocket-') || name === 'transfer-encoding') continue
    headers[name] = Array.isArray(value) ? value.join(', ') : String(value)
  }
  return headers
}

/** Raw header list of an answer towards the client: order and repeats kept, connection headers and ours removed. */
export function answerHeaders(rawHeaders: readonly string[], token: string): string[] {
  const pairs = pairUp(rawHeaders)
  const connection = pairs.filter(([name]) => name.toLowerCase() === 'connection').map(([, value]) => value)
  const dropped = namedByConnection(connection.join(','))
  return pairs
    .filter(([name]) => {
      const lower = name.toLowerCase()
      return !hopByHop.has(lower) && !isOurs(lower) && !dropped.has(lower)
    })
    .flatMap(([name, value]) => [name, value.replaceAll(token, '*'.repeat(token.length))])
}

/** The same list without the named headers. */
export function withoutHeaders(rawHeaders: readonly string[], names: readonly string[]): string[] {
  return pairUp(rawHeaders)
    .filter(([name]) => !names.includes(name.toLowerCase()))
    .flat()
}

function pairUp(rawHeaders: readonly string[]): [string, string][] {
  const pairs: [string, string][] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    pairs.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? ''])
  }
  return pairs
}
