import { z } from 'zod'
import { timestampSchema } from './primitives.ts'

export const relayEventNames = [
  'RELAY_LISTENING',
  'SANDBOX_CREATE_STARTED',
  'SANDBOX_CREATED',
  'SANDBOX_READY',
  'SANDBOX_START_FAILED',
  'SANDBOX_LOST',
  'SANDBOX_TROUBLE',
  'SANDBOX_CLEANED',
  'SANDBOX_CLEANUP_FAILED',
  'REQUEST_FAILED',
  'REQUEST_REFUSED',
  'REQUEST_ABORTED',
  'WEBSOCKET_OPENED',
  'WEBSOCKET_CLOSED',
  'WEBSOCKET_FAILED',
] as const

/** One line of `relay-events.jsonl`: what happened to an attempt's sandbox and its traffic; never a body or a token. */
export const relayEventSchema = z.strictObject({
  at: timestampSchema,
  event: z.enum(relayEventNames),
  /** Counts the sandboxes of one attempt, from 1. */
  generation: z.int().min(1).optional(),
  sandbox_id: z.string().optional(),
  /** How long it took, or how long a connection lived. */
  seconds: z.number().min(0).optional(),
  message: z.string().optional(),
  port: z.enum(['server', 'cdp', 'vnc', 'vlc']).optional(),
  method: z.string().optional(),
  /** Without the query. */
  path: z.string().optional(),
  tries: z.int().min(1).optional(),
  /** HTTP status of a refusal. */
  status: z.int().optional(),
  /** WebSocket close code. */
  code: z.int().optional(),
  by: z.enum(['client', 'guest', 'relay']).optional(),
})
export type RelayEventLine = z.infer<typeof relayEventSchema>
