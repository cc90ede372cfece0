import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

/** Pauses before the second, third and fourth try. */
export const retryPausesMs = [50, 200, 500] as const

const idempotentMethods = new Set(['GET', 'HEAD', 'OPTIONS'])
const beforeAnyByte = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE'])

/**
 * Whether a request that failed without an answer may be sent again: only one that changes nothing and has no body,
 * which would be used up by the first try.
 */
export function mayRetry(request: IncomingMessage, headers: IncomingHttpHeaders, error: Error): boolean {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  return idempotentMethods.has(request.method ?? '') && !hasBody && beforeAnyByte.has(errorCode(error) ?? '')
}

/** A failure as a short text that is safe to record: its code if it has one. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return errorCode(error) ?? error.message
}

/** Path of a request without its query. */
export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/'
}

function errorCode(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
