import { LocalE2bError } from '../error.ts'
import { stateOf, type Sandbox } from './sandbox.ts'

export interface ListQuery {
  readonly metadata: ReadonlyMap<string, string>
  readonly states: readonly string[]
  readonly startedAfterMs: number | undefined
  readonly template: string | undefined
  readonly order: 'asc' | 'desc'
  readonly limit: number
  /** Place of the last sandbox of the page before, so that sandboxes that end between two pages shift nothing. */
  readonly after: Place | undefined
}

interface Place {
  readonly startedAtMs: number
  readonly sequence: number
}

type Listed = Pick<Sandbox, 'metadata' | 'startedAtMs' | 'sequence' | 'templateId' | 'templateName' | 'isEnding'>

const largestPage = 100

/** Reads the query of `GET /v2/sandboxes`; throws `bad_request` with the parameter's name. */
export function parseListQuery(query: URLSearchParams): ListQuery {
  const startedAfter = query.get('startedAfter')
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') throw bad('order', order, 'asc or desc')
  return {
    metadata: parseMetadataFilter(query.get('metadata') ?? ''),
    states: query.getAll('state').flatMap((value) => value.split(',')),
    startedAfterMs: startedAfter === null ? undefined : parseTime(startedAfter),
    template: query.get('template') ?? undefined,
    order,
    limit: parseLimit(query.get('limit') ?? String(largestPage)),
    after: parseToken(query.get('nextToken')),
  }
}

/**
 * The filter is a query string inside a query value whose keys and values were encoded once more by the SDK,
 * so both layers are decoded. A value that is not validly encoded stands for itself.
 */
export function parseMetadataFilter(text: string): ReadonlyMap<string, string> {
  return new Map([...new URLSearchParams(text)].map(([key, value]) => [decodeLeniently(key), decodeLeniently(value)]))
}

/** The sandboxes that `query` asks for, in its order, and the token of the next page if there is one. */
export function selectSandboxes<Item extends Listed>(sandboxes: readonly Item[], query: ListQuery): { readonly page: readonly Item[]; readonly nextToken: string | undefined } {
  const direction = query.order === 'asc' ? 1 : -1
  const compare = (left: Place, right: Place): number => direction * (left.startedAtMs - right.startedAtMs || left.sequence - right.sequence)
  const after = query.after
  const found = sandboxes
    .filter((sandbox) => matches(sandbox, query) && (after === undefined || compare(sandbox, after) > 0))
    .sort(compare)
  const page = found.slice(0, query.limit)
  const last = page.at(-1)
  return { page, nextToken: last !== undefined && page.length < found.length ? `${last.startedAtMs}-${last.sequence}` : undefined }
}

function matches(sandbox: Listed, query: ListQuery): boolean {
  if (query.states.length > 0 && !query.states.includes(stateOf(sandbox))) return false
  if (query.startedAfterMs !== undefined && sandbox.startedAtMs < query.startedAfterMs) return false
  if (query.template !== undefined && query.template !== sandbox.templateId && query.template !== sandbox.templateName) return false
  return [...query.metadata].every(([key, value]) => sandbox.metadata[key] === value)
}

function decodeLeniently(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function parseTime(text: string): number {
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw bad('startedAfter', text, 'an RFC 3339 time')
  return time
}

function parseLimit(text: string): number {
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= largestPage) return limit
  throw bad('limit', text, `a whole number from 1 to ${largestPage}`)
}

function parseToken(text: string | null): Place | undefined {
  if (text === null || text === '') return undefined
  const [, startedAt, sequence] = /^(\d{1,16})-(\d{1,9})$/.exec(text) ?? []
  if (startedAt === undefined || sequence === undefined) throw bad('nextToken', text, 'the X-Next-Token of the page before')
  return { startedAtMs: Number(startedAt), sequence: Number(sequence) }
}

function bad(name: string, value: string, expected: string): LocalE2bError {
  return new LocalE2bError('bad_request', `The query parameter ${name} is '${value}' but must be ${expected}.`)
}
