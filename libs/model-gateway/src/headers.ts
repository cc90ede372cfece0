import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { Secret } from '@osworld-e2b/redaction'
import type { WireStyle } from './wire.ts'

/** What belongs to one connection (RFC 9110, section 7.6.1), to its client, or is set anew towards the endpoint. */
const notPassedOn = new Set([
  'accept-encoding', 'authorization', 'connection', 'content-length', 'cookie', 'expect', 'forwarded', 'host', 'keep-alive', 'origin',
  'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'referer', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'x-api-key',
])

const answerNames = /^(content-type|x-request-id|request-id|openai-version|openai-processing-ms|(x|anthropic)-ratelimit-[a-z-]+)$/

/** Refuses whatever a web page could send: a page's requests have an origin, and after DNS rebinding a host that is not ours. */
export function isFromBrowser(headers: IncomingHttpHeaders): boolean {
  const host = (headers.host ?? '').replace(/:\d+$/, '').toLowerCase()
  return headers.origin !== undefined || !['127.0.0.1', 'localhost'].includes(host)
}

/** The attempt's key as either style carries it. */
export function keyOf(headers: IncomingHttpHeaders): string | undefined {
  const own = headers['x-api-key']
  if (typeof own === 'string') return own
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
}

/** Headers towards an endpoint: the agent's own without its key, and the real key where there is one. */
export function requestHeaders(incoming: IncomingHttpHeaders, style: WireStyle, key: Secret | undefined): OutgoingHttpHeaders {
  const dropped = new Set((incoming.connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
  const kept = Object.entries(incoming).filter(([name]) => !notPassedOn.has(name) && !dropped.has(name) && !name.startsWith('x-forwarded-'))
  // A compressed answer could not be read for its usage.
  return { ...Object.fromEntries(kept), 'accept-encoding': 'identity', ...keyHeaders(style, key) }
}

/** Headers of a probe, which is a question for the list of models. */
export function probeHeaders(style: WireStyle, key: Secret | undefined): OutgoingHttpHeaders {
  return { accept: 'application/json', ...(style === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {}), ...keyHeaders(style, key) }
}

function keyHeaders(style: WireStyle, key: Secret | undefined): OutgoingHttpHeaders {
  if (key === undefined) return {}
  return style === 'anthropic' ? { 'x-api-key': key.reveal() } : { authorization: `Bearer ${key.reveal()}` }
}

/** Headers towards the agent: only what its client reads, so that no address, cookie or account comes through. */
export function answerHeaders(headers: IncomingHttpHeaders, mask: (text: string) => string): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => answerNames.test(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, mask(String(value))]))
}
