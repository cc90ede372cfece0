import type { ServerResponse } from 'node:http'
import { DocumentError } from '@osworld-e2b/contracts'
import { LocalE2bError, describeError, type LocalE2bErrorCode } from '../error.ts'

const statusOfCode: Readonly<Partial<Record<LocalE2bErrorCode, number>>> = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  too_many: 429,
  not_offered: 501,
  closing: 503,
  busy: 503,
}

/** E2B's names for causes that clients tell apart. */
const vendorCodes: Readonly<Partial<Record<LocalE2bErrorCode, string>>> = {
  start_failed: 'sandbox_create_failed',
  busy: 'sandbox_capacity_unavailable',
}

export interface ErrorBody {
  readonly code: number
  readonly message: string
  readonly error_code?: string
}

/** E2B's error body for whatever was thrown; clients look at `code` in the body, so it always equals the status. */
export function errorBody(error: unknown): ErrorBody {
  if (error instanceof DocumentError) return { code: 400, message: error.message }
  if (!(error instanceof LocalE2bError)) return { code: 500, message: `The server failed: ${describeError(error)}` }
  const code = statusOfCode[error.code] ?? 500
  const errorCode = vendorCodes[error.code]
  return errorCode === undefined ? { code, message: error.message } : { code, message: error.message, error_code: errorCode }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}

/** An empty success reply; without `Content-Length: 0` the SDK would wait for JSON on every status but 204. */
export function sendEmpty(response: ServerResponse, status: number): void {
  response.writeHead(status, status === 204 ? {} : { 'Content-Length': 0 })
  response.end()
}

/** Answers with the error, or cuts the connection when an answer has begun. */
export function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const body = errorBody(error)
  sendJson(response, body.code, body)
}
