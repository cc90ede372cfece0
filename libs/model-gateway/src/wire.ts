import type { ModelApi } from '@osworld-e2b/contracts'

/** Whose conventions a request follows: how it carries its key, and the shape of its errors. */
export type WireStyle = 'openai' | 'anthropic'

export interface Route {
  readonly api: ModelApi
  readonly style: WireStyle
  /** Below `/v1`, beginning with a slash. */
  readonly rest: string
  /** With its question mark, or empty. */
  readonly query: string
}

const apis = new Map<string, ModelApi>([
  ['/chat/completions', 'openai_chat'],
  ['/responses', 'openai_responses'],
  ['/messages', 'anthropic_messages'],
])

/**
 * What a request asks for; undefined when it is not below `/v1`. Dot segments are resolved first, so that no request leaves the endpoint's
 * own path.
 */
export function routeOf(method: string, target: string, hasAnthropicKey: boolean): Route | undefined {
  const url = URL.canParse(target, 'http://gateway') ? new URL(target, 'http://gateway') : undefined
  if (url === undefined || !url.pathname.startsWith('/v1/') || /%2f|%5c/i.test(url.pathname)) return undefined
  const rest = url.pathname.slice('/v1'.length)
  const api = (method === 'POST' ? apis.get(rest) : undefined) ?? 'other'
  const style = rest === '/messages' || rest.startsWith('/messages/') || hasAnthropicKey ? 'anthropic' : 'openai'
  return { api, style, rest, query: url.search }
}

/**
 * Address at an endpoint. OpenAI's clients append to the base URL what follows `/v1`; Anthropic's append `/v1` as well, so there the base may
 * end in `/v1` or not. A query of the base URL is kept.
 */
export function addressAt(base: string, { style, rest, query }: Pick<Route, 'style' | 'rest' | 'query'>): URL {
  const url = new URL(base)
  const path = url.pathname.replace(/\/+$/, '')
  url.pathname = (style === 'anthropic' ? `${path.replace(/\/v1$/, '')}/v1` : path) + rest
  url.search = [url.search, query].map((part) => part.replace(/^\?/, '')).filter((part) => part !== '').join('&')
  return url
}

export interface WireError {
  readonly status: number
  readonly type: string
  readonly message: string
}

/** An error of the gateway itself in the shape that the API's clients read. */
export function errorBody(style: WireStyle, { type, message }: WireError): Buffer {
  const body = style === 'anthropic'
    ? { type: 'error', error: { type, message } }
    : { error: { message, type, param: null, code: type } }
  return Buffer.from(JSON.stringify(body))
}

/** Whether an endpoint's error has the shape of the API, so that it can be passed on as it is. */
export function hasErrorShape(body: unknown): boolean {
  return errorOf(body) !== undefined
}

/** The error object of an answer or of a stream's event; some services put it into a list. */
export function errorOf(body: unknown): Readonly<Record<string, unknown>> | undefined {
  const told: unknown = Array.isArray(body) ? body[0] : body
  const error = isRecord(told) ? told['error'] : undefined
  return isRecord(error) ? error : undefined
}

/** Code or type of an error when it is a plain word, which can hold no address and no key. */
export function errorWord(body: unknown): string | undefined {
  const error = errorOf(body)
  return [error?.['code'], error?.['type']].find((word): word is string => typeof word === 'string' && /^[a-z_]{1,64}$/.test(word))
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
