import { z } from 'zod'

/** Why an attempt has no score; the first cause wins. */
export const invalidReasons = [
  'sandbox_create_failed',
  'guest_not_ready',
  'guest_lost',
  'relay_failed',
  'worker_lost',
  'setup_failed',
  'application_missing',
  'model_unavailable',
  'timeout',
  'runner_exit',
  'missing_result',
  'malformed_result',
  'evaluator_error',
  'identity_drift',
  'cleanup_failed',
  'interrupted',
] as const
export const invalidReasonSchema = z.enum(invalidReasons)
export type InvalidReason = z.infer<typeof invalidReasonSchema>

export const phases = ['import', 'start', 'setup', 'agent', 'evaluate', 'close'] as const
export const phaseSchema = z.enum(phases)
export type Phase = z.infer<typeof phaseSchema>

export const validOutcomeSchema = z.strictObject({ kind: z.literal('valid'), reward: z.number().min(0).max(1) })

const causeShape = {
  reason: invalidReasonSchema,
  phase: phaseSchema.optional(),
  message: z.string(),
}
export const causeSchema = z.strictObject(causeShape)
export type Cause = z.infer<typeof causeSchema>

export const invalidOutcomeSchema = z.strictObject({
  kind: z.literal('invalid'),
  ...causeShape,
  /** Causes that came after the first one. */
  later: z.array(causeSchema).optional(),
})

/** Valid with a reward (zero is a score), or invalid with a reason (never a zero). */
export const outcomeSchema = z.discriminatedUnion('kind', [validOutcomeSchema, invalidOutcomeSchema])
export type Outcome = z.infer<typeof outcomeSchema>
