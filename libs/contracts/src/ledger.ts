import { z } from 'zod'
import { outcomeSchema } from './outcome.ts'
import { relativePathSchema, sha256Schema, taskKeySchema, timestampSchema } from './primitives.ts'
import { cleanupSchema } from './relay-protocol.ts'

const attemptKeyShape = {
  domain: taskKeySchema.shape.domain,
  task_id: taskKeySchema.shape.id,
  trial: z.int().min(1),
  attempt: z.int().min(1),
  timestamp: timestampSchema,
}

/** Longest error text kept in the ledger; the whole text is in the attempt's folder. */
export const maxMessageLength = 2_000

/** One line of `attempts.jsonl`. */
export const ledgerEventSchema = z.discriminatedUnion('event', [
  z.strictObject({ event: z.literal('PLANNED'), ...attemptKeyShape, attempt_dir: relativePathSchema }),
  z.strictObject({ event: z.literal('STARTED'), ...attemptKeyShape, pid: z.int().positive(), pid_start: z.string() }),
  z.strictObject({
    event: z.literal('TERMINAL'),
    ...attemptKeyShape,
    outcome: outcomeSchema,
    cleanup: cleanupSchema,
    /** From the start of the attempt process to the end of its clean-up. */
    seconds: z.number().min(0),
    steps: z.int().min(0),
    /** SHA-256 of `artifacts.json`; absent when the attempt left no folder. */
    catalog_sha256: sha256Schema.optional(),
  }),
  z.strictObject({ event: z.literal('RUN_STARTED'), timestamp: timestampSchema, pid: z.int().positive(), host: z.string() }),
  z.strictObject({
    event: z.literal('RUN_ENDED'),
    timestamp: timestampSchema,
    reason: z.enum(['complete', 'incomplete', 'interrupted', 'budget', 'identity_drift']),
    orphans: z.strictObject({ found: z.int().min(0), killed: z.int().min(0), remaining: z.int().min(0) }).optional(),
  }),
  /** A torn last line was cut off; its bytes are gone from the ledger and counted here. */
  z.strictObject({ event: z.literal('TAIL_CUT'), timestamp: timestampSchema, bytes: z.int().positive() }),
])
export type LedgerEvent = z.infer<typeof ledgerEventSchema>
export type AttemptEvent = Extract<LedgerEvent, { attempt: number }>
