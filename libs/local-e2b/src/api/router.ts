import type { IncomingMessage, ServerResponse } from 'node:http'
import { LocalE2bError } from '../error.ts'

export interface ApiRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Decoded path parameters by name. */
  readonly parameters: Readonly<Record<string, string>>
  readonly query: URLSearchParams
}

/** What a handler answers; undefined when it answered by itself. */
export type Reply = { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }

export interface Route {
  readonly method: string
  /** Segments, `{name}` for a parameter. */
  readonly path: string
  /** Answered without an API key. */
  readonly isPublic?: boolean
  readonly handle: (request: ApiRequest) => Reply | Promise<Reply>
}

export interface RouteMatch {
  readonly route: Route
  readonly parameters: Readonly<Record<string, string>>
}

/** Finds the route of `method` and `path`; fixed segments beat parameters. Throws `not_found`, or `bad_request` for broken escapes. */
export function matchRoute(routes: readonly Route[], method: string, path: string): RouteMatch {
  const segments = path.split('/').filter((segment) => segment !== '').map(decodeSegment)
  const matches = routes
    .filter((route) => route.method === method)
    .flatMap((route) => matchSegments(route, segments))
    .sort((left, right) => (rank(left.route) < rank(right.route) ? -1 : 1))
  if (matches[0] !== undefined) return matches[0]
  throw new LocalE2bError('not_found', `This server has no ${method} ${path}.`)
}

/** Sorts fixed segments before parameters, from the left. */
function rank(route: Route): string {
  return route.path.split('/').map((part) => (part.startsWith('{') ? '1' : '0')).join('')
}

function matchSegments(route: Route, segments: readonly string[]): RouteMatch[] {
  const pattern = route.path.split('/').filter((segment) => segment !== '')
  if (pattern.length !== segments.length) return []
  const parameters: Record<string, string> = {}
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? ''
    if (part.startsWith('{')) parameters[part.slice(1, -1)] = segment
    else if (part !== segment) return []
  }
  return [{ route, parameters }]
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (error) {
    throw new LocalE2bError('bad_request', `The path segment '${segment}' is not percent-encoded text.`, { cause: error })
  }
}
