import { z } from 'zod'
import { timingSchema } from './attempt-protocol.ts'
import { routeSchema, sha256Schema, taskKeySchema, templateRefSchema } from './primitives.ts'

/** What decides the number: hashed, and not to be changed by a resume. Only strings, integers and booleans. */
export const scoringIdentitySchema = z.strictObject({
  profile: z.string().min(1),
  suite: z.string().min(1),
  /** SHA-256 of the task files' bytes, in order. */
  tasks: z.array(taskKeySchema.extend({ task_sha256: sha256Schema })).min(1),
  trials: z.int().min(1),
  template: templateRefSchema,
  agent: z.strictObject({
    kind: z.enum(['scripted', 'none']),
    /** For `scripted`: the name of the script set and the digest of its files. */
    scripts: z.string().optional(),
    scripts_sha256: sha256Schema.optional(),
  }),
  max_steps: z.int().min(1),
  timing: timingSchema,
  screen: z.strictObject({ width: z.int().positive(), height: z.int().positive() }),
  enable_proxy: z.boolean(),
  adjustments_sha256: sha256Schema,
})
export type ScoringIdentity = z.infer<typeof scoringIdentitySchema>

/** One day: longer than any task, and well within what a timer can count. */
export const longestAttemptSeconds = 86_400

/** `contract.json`: what a campaign may do; `operation` may change at a resume, `scoring` may not. */
export const contractSchema = z.strictObject({
  schema_version: z.literal(1),
  scoring: scoringIdentitySchema,
  operation: z.strictObject({
    route: z.strictObject({ kind: routeSchema, final: z.boolean() }),
    num_envs: z.int().min(1),
    max_attempts_per_trial: z.int().min(1),
    attempt_timeout_seconds: z.int().min(1).max(longestAttemptSeconds),
    ready_deadline_seconds: z.int().min(1).max(3_600),
    execution_authorized: z.boolean(),
    /** Where the tasks and scripts were read from, so that a resume finds them again; their digests are in `scoring`. */
    source: z.strictObject({ kind: z.enum(['suite', 'tasks']), folder: z.string().startsWith('/') }).optional(),
    scripts_folder: z.string().startsWith('/').optional(),
  }),
})
export type Contract = z.infer<typeof contractSchema>
