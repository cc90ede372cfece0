import { z } from 'zod'
import { pauseReasonSchema } from './ledger.ts'
import { phaseSchema } from './outcome.ts'
import { taskKeySchema, timestampSchema } from './primitives.ts'

const countSchema = z.int().min(0)

/**
 * `status.json`: a campaign as it runs, written over and over by its owner for whoever looks on. It proves nothing; the ledger does.
 */
export const runStatusSchema = z.strictObject({
  schema_version: z.literal(1),
  run_id: z.string(),
  updated_at: timestampSchema,
  started_at: timestampSchema,
  /** `ended` once the owner has left in order. */
  state: z.enum(['running', 'paused', 'draining', 'stopping', 'ended']),
  pauses: z.array(z.strictObject({ reason: pauseReasonSchema, message: z.string() })),
  planned: countSchema,
  valid: countSchema,
  /** Trials whose last attempt has no score and that are not tried again in this start. */
  failed: countSchema,
  /** Sum of rewards of valid trials. */
  reward_sum: z.number().min(0),
  running: z.array(
    z.strictObject({
      ...taskKeySchema.shape,
      trial: z.int().min(1),
      attempt: z.int().min(1),
      phase: phaseSchema.nullable(),
      step: countSchema,
      max_steps: z.int().min(1),
      started_at: timestampSchema,
    }),
  ),
  /** Valid trials a minute in this start; null before the first. */
  per_minute: z.number().min(0).nullable(),
  eta_seconds: z.number().min(0).nullable(),
  cost: z.strictObject({
    /** US dollars of this run so far; null is unknown. */
    so_far_usd: z.number().min(0).nullable(),
    /** Of the whole run if it goes on so; null is unknown. */
    forecast_usd: z.number().min(0).nullable(),
  }),
  /** Newest last; sentences. */
  events: z.array(z.strictObject({ at: timestampSchema, text: z.string() })),
})
export type RunStatus = z.infer<typeof runStatusSchema>
