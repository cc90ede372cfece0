import { z } from 'zod'
import { guestPortsSchema } from './attempt-protocol.ts'
import { invalidReasonSchema } from './outcome.ts'
import { routeSchema, templateRefSchema } from './primitives.ts'

/** How to reach an E2B API; on `local` and `e2b-compatible` guest ports are reached through `sandbox_url` by headers. */
export const connectionSchema = z.strictObject({
  route: routeSchema,
  api_key: z.string().min(1),
  api_url: z.url().optional(),
  sandbox_url: z.url().optional(),
})
export type Connection = z.infer<typeof connectionSchema>

/** First line on `relay-bin`'s standard input; it holds the key, so it never travels by argument or environment. */
export const relayConfigureSchema = z.strictObject({
  type: z.literal('configure'),
  connection: connectionSchema,
  template: templateRefSchema,
  /** Stored with the sandbox, so that orphans can be found by listing. */
  metadata: z.record(z.string(), z.string()),
  /** Time to live that the heartbeat keeps extending, in seconds. */
  sandbox_timeout_seconds: z.int().min(15).max(86_400),
  ready_deadline_seconds: z.int().min(1).max(3_600),
  screen: z.strictObject({ width: z.int().positive(), height: z.int().positive() }),
  /** Absolute path of `relay-events.jsonl`. */
  events_file: z.string().startsWith('/'),
})
export type RelayConfigure = z.infer<typeof relayConfigureSchema>

const requestIdSchema = z.int().min(0)

/** Lines after the first one on `relay-bin`'s standard input; the end of standard input means stop and exit. */
export const relayRequestSchema = z.strictObject({
  type: z.enum(['start', 'reset', 'stop']),
  id: requestIdSchema,
})
export type RelayRequest = z.infer<typeof relayRequestSchema>

export const cleanupSchema = z.enum(['success', 'failed', 'none'])
export type Cleanup = z.infer<typeof cleanupSchema>

/** Lines on `relay-bin`'s standard output. `listening` comes first, before any sandbox exists. */
export const relayMessageSchema = z.union([
  z.strictObject({ type: z.literal('listening'), ports: guestPortsSchema }),
  z.strictObject({
    type: z.literal('reply'),
    id: requestIdSchema,
    ok: z.literal(true),
    sandbox_id: z.string().optional(),
    generation: z.int().min(1).optional(),
    cleanup: cleanupSchema.optional(),
  }),
  z.strictObject({
    type: z.literal('reply'),
    id: requestIdSchema,
    ok: z.literal(false),
    error: z.strictObject({ code: invalidReasonSchema, message: z.string() }),
  }),
  z.strictObject({ type: z.literal('lost'), reason: z.enum(['guest_lost', 'relay_failed']), message: z.string() }),
  z.strictObject({ type: z.literal('stopped'), cleanup: cleanupSchema }),
])
export type RelayMessage = z.infer<typeof relayMessageSchema>
