import { AuthenticationError, RateLimitError, SandboxError, ServiceBusyError } from 'e2b'
import type { Connection } from '@osworld-e2b/contracts'
import type { Failure } from './control-plane.ts'

/**
 * Reads an error of the SDK's control-plane calls. By class, status and network code together, since a refused
 * connection is a plain TypeError and the SDK's own time limit a DOMException.
 */
export function explainFailure(error: unknown, route: Connection['route']): Failure {
  return { ...explainCall(error), serverIsGone: route === 'local' && isRefused(error) }
}

/**
 * A local server listens until its last sandbox is gone, and what it could not end dies with its process. So where nobody
 * listens there is no server, and without it no sandbox. Elsewhere a refusal tells only of a front that others stand behind.
 */
function isRefused(error: unknown): boolean {
  return error instanceof Error && causeCode(error) === 'ECONNREFUSED'
}

type CallFailure = Omit<Failure, 'serverIsGone'>

function explainCall(error: unknown): CallFailure {
  if (error instanceof AuthenticationError) return { sentence: 'the API refused the key (401); check the key and which server it belongs to', ambiguous: false }
  if (error instanceof RateLimitError) return explainRateLimit(error)
  if (error instanceof ServiceBusyError) return { sentence: 'the service has no capacity at the moment (503)', ambiguous: false }
  if (error instanceof SandboxError) return explainStatus(error)
  if (error instanceof Error) return explainNetwork(error)
  return { sentence: `the call failed with ${String(error)}`, ambiguous: true }
}

function explainRateLimit(error: RateLimitError): CallFailure {
  const sentence = /maximum number of concurrent/i.test(error.message)
    ? 'the account already runs as many sandboxes as it may at a time (429)'
    : 'the account makes sandboxes faster than it may (429)'
  return { sentence, ambiguous: false }
}

function explainStatus(error: SandboxError): CallFailure {
  const { statusCode, message } = error
  if (statusCode === undefined) return { sentence: `the SDK refused the answer (${message})`, ambiguous: true }
  const sentence = statusCode === 404 ? `the API does not know what was asked for (${message})` : `the API answered ${message}`
  return { sentence, ambiguous: statusCode >= 500 }
}

function explainNetwork(error: Error): CallFailure {
  if (error.name === 'TimeoutError') return { sentence: 'the API did not answer in time', ambiguous: true }
  if (error.name === 'AbortError') return { sentence: 'the call was called off', ambiguous: true }
  const code = causeCode(error)
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND') return { sentence: `no server answers at the API's address (${code})`, ambiguous: false }
  return { sentence: `the connection to the API failed (${code ?? error.message})`, ambiguous: true }
}

function causeCode(error: Error): string | undefined {
  const { cause } = error
  if (typeof cause !== 'object' || cause === null || !('code' in cause)) return undefined
  return typeof cause.code === 'string' ? cause.code : undefined
}
