import { type Answer, piecesOf } from './answer.ts'
import { namedEvent, type Wire } from './wire.ts'

const errorTypes: Readonly<Record<number, string>> = { 400: 'invalid_request_error', 401: 'authentication_error', 403: 'permission_error', 404: 'not_found_error', 413: 'request_too_large', 429: 'rate_limit_error', 529: 'overloaded_error' }

/** Anthropic's messages (docs.anthropic.com/en/api/messages-streaming). */
export const messagesWire: Wire = {
  whole: (answer) => ({ ...headOf(answer), content: [{ type: 'text', text: answer.text }], stop_reason: 'end_turn', usage: usageOf(answer, answer.usage.output_tokens) }),
  events: (answer) => [
    namedEvent({ type: 'message_start', message: { ...headOf(answer), content: [], stop_reason: null, usage: usageOf(answer, 1) } }),
    namedEvent({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    namedEvent({ type: 'ping' }),
    ...piecesOf(answer.text).map((text) => namedEvent({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    namedEvent({ type: 'content_block_stop', index: 0 }),
    namedEvent({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: answer.usage.output_tokens } }),
    namedEvent({ type: 'message_stop' }),
  ],
  error: (status, message) => ({ type: 'error', error: { type: errorTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error'), message } }),
}

function headOf({ id, model }: Answer) {
  return { id: `msg_${id}`, type: 'message', role: 'assistant', model, stop_sequence: null }
}

function usageOf({ usage }: Answer, outputTokens: number) {
  return { input_tokens: usage.input_tokens, output_tokens: outputTokens }
}
