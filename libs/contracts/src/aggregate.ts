import { z } from 'zod'
import { notRunSchema, orphansSchema } from './ledger.ts'
import { modelUsageSchema } from './model.ts'
import { invalidReasonSchema } from './outcome.ts'
import { timestampSchema } from './primitives.ts'

const countsShape = {
  planned_tasks: z.int().min(0),
  attempted_tasks: z.int().min(0),
  valid_tasks: z.int().min(0),
  remaining_tasks: z.int().min(0),
  reward_sum: z.number().min(0),
  /** Sum divided by planned tasks: what is not valid counts nothing. */
  score_declared: z.number().min(0).max(1).nullable(),
  /** Sum divided by valid tasks; null when there are none. */
  score_valid: z.number().min(0).max(1).nullable(),
  /** Valid divided by planned. */
  coverage: z.number().min(0).max(1).nullable(),
}
export const scoreSchema = z.strictObject(countsShape)
export type Score = z.infer<typeof scoreSchema>

/** `aggregate.json`: a pure fold of the run's plan and ledger. */
export const aggregateSchema = z.strictObject({
  schema_version: z.literal(1),
  run_id: z.string(),
  updated_at: timestampSchema,
  complete: z.boolean(),
  ...countsShape,
  trials: z.int().min(1),
  planned_attempts: z.int().min(0),
  started_attempts: z.int().min(0),
  terminal_attempts: z.int().min(0),
  /** Attempts, not tasks, by the reason that made them invalid. */
  invalid_by_reason: z.partialRecord(invalidReasonSchema, z.int().min(1)),
  domains: z.record(z.string(), scoreSchema),
  attempt_seconds: z.number().min(0),
  /** Trials that the last start of the run did not run, by what kept them; absent while it runs. */
  not_run: notRunSchema.optional(),
  /** Sandboxes that were found without an owner over all starts of the run; `remaining` is of the last look. */
  orphans: orphansSchema.optional(),
  /** What all attempts used, invalid ones too. */
  used: z
    .strictObject({
      sandbox_seconds: z.number().min(0),
      /** Null while the price of some of it is unknown, which is not zero. */
      sandbox_usd: z.number().min(0).nullable(),
      model: modelUsageSchema.optional(),
      /** Null while the price of some call is unknown; absent without a model. */
      model_usd: z.number().min(0).nullable().optional(),
      /** Null as soon as a part of it is. */
      total_usd: z.number().min(0).nullable(),
    })
    .optional(),
  /** Present and true when the number carries that weakness. */
  simulated: z.literal(true).optional(),
  unverified: z.literal(true).optional(),
  unconfined: z.literal(true).optional(),
  additions: z.literal(true).optional(),
})
export type Aggregate = z.infer<typeof aggregateSchema>
