import { z } from 'zod'
import { modelUsageSchema } from './model.ts'
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

/** Why a run starts nothing for a while. */
export const pauseReasonSchema = z.enum(['disk_full', 'sandbox_creates_fail', 'api_unreachable', 'model_unhealthy'])
export type PauseReason = z.infer<typeof pauseReasonSchema>

export const notRunReasonSchema = z.enum(['budget', 'deadline', 'drained', 'interrupted', 'identity_drift'])
export type NotRunReason = z.infer<typeof notRunReasonSchema>
export const notRunSchema = z.partialRecord(notRunReasonSchema, z.int().min(1))

export const orphansSchema = z.strictObject({ found: z.int().min(0), killed: z.int().min(0), remaining: z.int().min(0) })
export type Orphans = z.infer<typeof orphansSchema>

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
    /** From asking for its sandbox to knowing that it is gone; absent when it had none. */
    sandbox_seconds: z.number().min(0).optional(),
    /** Of an attempt whose agent asked a model. */
    model: modelUsageSchema.optional(),
    /** SHA-256 of `artifacts.json`; absent when the attempt left no folder. */
    catalog_sha256: sha256Schema.optional(),
  }),
  z.strictObject({
    event: z.literal('RUN_STARTED'),
    timestamp: timestampSchema,
    pid: z.int().positive(),
    host: z.string(),
    /** Dollars of one sandbox for one hour in this start of the run; absent when nobody said. */
    sandbox_hour_usd: z.number().min(0).optional(),
  }),
  /** Nothing more is started until it is over; what runs goes on. */
  z.strictObject({ event: z.literal('RUN_PAUSED'), timestamp: timestampSchema, reason: pauseReasonSchema, message: z.string().max(maxMessageLength) }),
  z.strictObject({ event: z.literal('RUN_CONTINUED'), timestamp: timestampSchema, reason: pauseReasonSchema }),
  /** Sandboxes of the run that no attempt of this start owns were looked for. */
  z.strictObject({ event: z.literal('ORPHANS_KILLED'), timestamp: timestampSchema, when: z.enum(['start', 'during', 'end']), orphans: orphansSchema }),
  z.strictObject({
    event: z.literal('RUN_ENDED'),
    timestamp: timestampSchema,
    reason: z.enum(['complete', 'incomplete', 'interrupted', 'drained', 'deadline', 'budget', 'identity_drift']),
    /** Of the last look; absent when the sandboxes could not be listed. */
    orphans: orphansSchema.optional(),
    /** Trials that were not begun or not tried again, by what kept them. */
    not_run: notRunSchema.optional(),
  }),
  /** A torn last line was cut off; its bytes are gone from the ledger and counted here. */
  z.strictObject({ event: z.literal('TAIL_CUT'), timestamp: timestampSchema, bytes: z.int().positive() }),
])
export type LedgerEvent = z.infer<typeof ledgerEventSchema>
export type AttemptEvent = Extract<LedgerEvent, { attempt: number }>
