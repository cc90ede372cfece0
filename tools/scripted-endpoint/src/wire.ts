import type { Answer } from './answer.ts'
import type { ModelRequest } from './model-request.ts'

export type Api = 'chat' | 'responses' | 'messages'

/** How one API writes its answers. */
export interface Wire {
  whole(answer: Answer): unknown
  /** The stream's server-sent events, each as text without its closing empty line. */
  events(answer: Answer, request: ModelRequest): readonly string[]
  error(status: number, message: string): unknown
}

/** An event with a name, as both the responses and the messages API send it. */
export function namedEvent(value: { readonly type: string } & Readonly<Record<string, unknown>>): string {
  return `event: ${value.type}\n${dataEvent(value)}`
}

export function dataEvent(value: unknown): string {
  return `data: ${JSON.stringify(value)}`
}

/** Both of OpenAI's. */
export function openaiError(status: number, message: string): unknown {
  const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
  return { error: { message, type, param: null, code: null } }
}
