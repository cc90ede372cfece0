import type { ServerResponse } from 'node:http'

export type RelayAnswerReason = 'no_sandbox' | 'sandbox_unreachable' | 'sandbox_gone' | 'answer_too_big' | 'bad_request'

export interface RelayAnswer {
  readonly status: 400 | 502
  readonly reason: RelayAnswerReason
  readonly message: string
}

export const noSandbox: RelayAnswer = {
  status: 502,
  reason: 'no_sandbox',
  message: 'No sandbox is behind this port: none was started yet, or it was stopped or lost.',
}

export const sandboxGone: RelayAnswer = {
  status: 502,
  reason: 'sandbox_gone',
  message: 'The sandbox was stopped or lost before it answered.',
}

/** Answers in the relay's own name, so that nobody takes it for an answer of the guest. */
export function answerAsRelay(response: ServerResponse, answer: RelayAnswer): void {
  if (response.headersSent || response.destroyed) {
    response.destroy()
    return
  }
  const body = JSON.stringify({ author: 'osworld-e2b relay', code: answer.status, reason: answer.reason, message: answer.message })
  response.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}
