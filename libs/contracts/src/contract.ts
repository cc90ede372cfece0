import { z } from 'zod'
import { agentSchema } from './agent.ts'
import { timingSchema } from './attempt-protocol.ts'
import { routeSchema, sha256Schema, taskKeySchema, templateRefSchema, timestampSchema } from './primitives.ts'

export const screenSchema = z.strictObject({ width: z.int().positive(), height: z.int().positive() })

/** What decides the number: hashed, and not to be changed by a resume. Only strings, integers and booleans. */
export const scoringIdentitySchema = z.strictObject({
  profile: z.string().min(1),
  suite: z.string().min(1),
  /** Of the inventory that the tasks were verified against; absent for tasks that none covers. */
  inventory_sha256: sha256Schema.optional(),
  /** SHA-256 of the task files' bytes, in order. */
  tasks: z.array(taskKeySchema.extend({ task_sha256: sha256Schema })).min(1),
  trials: z.int().min(1),
  template: templateRefSchema,
  agent: agentSchema,
  max_steps: z.int().min(1),
  timing: timingSchema,
  screen: screenSchema,
  enable_proxy: z.boolean(),
  adjustments_sha256: sha256Schema,
})
export type ScoringIdentity = z.infer<typeof scoringIdentitySchema>

/** One day: longer than any task, and well within what a timer can count. */
export const longestAttemptSeconds = 86_400

/** A place that serves the model, by the names of environment variables; their values are never in a document. */
export const endpointSchema = z.strictObject({
  /** Variable with the base URL; it is also the endpoint's name in messages. */
  label: z.string().regex(/^[A-Z][A-Z0-9_]*$/, 'must be the upper-case name of an environment variable'),
  api_key_variable: z.string().regex(/^[A-Z][A-Z0-9_]*$/, 'must be the upper-case name of an environment variable').optional(),
  max_concurrent_requests: z.int().min(1).optional(),
})
export type Endpoint = z.infer<typeof endpointSchema>

/**
 * Most that a campaign may use over all its starts; what is absent is not limited. An attempt is started only while what it may need is
 * left, and what runs is finished. Money in cents, since fractions are not hashed.
 */
export const budgetSchema = z.strictObject({
  sandbox_hours: z.int().min(1).optional(),
  /** Requests sent to endpoints, tries included; the gateway sends none beyond it. */
  model_requests: z.int().min(1).optional(),
  /** Input and output together. */
  model_tokens: z.int().min(1).optional(),
  cost_usd_cents: z.int().min(1).optional(),
})
export type Budget = z.infer<typeof budgetSchema>

const phaseSecondsSchema = z.int().min(1).max(longestAttemptSeconds)

export const operationSchema = z.strictObject({
  route: z.strictObject({
    kind: routeSchema,
    /** Whether the result is meant to be published; a paid run must say so. */
    final: z.boolean(),
  }),
  num_envs: z.int().min(1),
  max_attempts_per_trial: z.int().min(1),
  attempt_timeout_seconds: z.int().min(1).max(longestAttemptSeconds),
  /** Most that single phases of an attempt may take; what is absent has the attempt's time-out alone. */
  phase_timeout_seconds: z
    .strictObject({ setup: phaseSecondsSchema.optional(), agent: phaseSecondsSchema.optional(), evaluate: phaseSecondsSchema.optional() })
    .optional(),
  /** Attempts that may be started in one second; E2B allows 1 or 5 creates, by plan. */
  launches_per_second: z.int().min(1).max(1_000).optional(),
  /** After so long from its start a run starts no more attempts; what runs is finished. */
  run_seconds: z.int().min(1).max(2_000_000).optional(),
  ready_deadline_seconds: z.int().min(1).max(3_600),
  execution_authorized: z.boolean(),
  /** Which contract the authorization is for: the digest of this document without `execution_authorized` and `authorization`. */
  authorization: z.strictObject({ contract_sha256: sha256Schema, expires_at: timestampSchema.optional() }).optional(),
  endpoints: z
    .array(endpointSchema)
    .min(1)
    .refine((endpoints) => new Set(endpoints.map(({ label }) => label)).size === endpoints.length, 'must name no endpoint twice')
    .optional(),
  /** Tries of one model request, the first included. */
  model_call_attempts: z.int().min(1).optional(),
  budget: budgetSchema.optional(),
  /** Whether `model-calls.jsonl` keeps what was asked and answered. */
  keep_model_content: z.boolean().optional(),
  /** Variable with the address of an agent that is asked over HTTP. */
  agent_url_variable: z.string().regex(/^[A-Z][A-Z0-9_]*$/, 'must be the upper-case name of an environment variable').optional(),
  /** Where the tasks and scripts were read from, so that a resume finds them again; their digests are in `scoring`. */
  source: z.strictObject({ kind: z.enum(['suite', 'tasks', 'profile']), folder: z.string().startsWith('/') }).optional(),
  scripts_folder: z.string().startsWith('/').optional(),
})
export type Operation = z.infer<typeof operationSchema>

/** A number written as text, since languages print fractions differently. */
const decimalSchema = z.string().regex(/^\d+(\.\d+)?$/, 'must be a decimal number as text, such as "0.03"')

/** What the result is held against. */
export const comparisonSchema = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('none') }),
  z.strictObject({
    mode: z.literal('public_docker_parity'),
    reference_dataset_commit: z.string().regex(/^[0-9a-f]{40}$/, 'must be 40 lower-case hexadecimal digits'),
    reference_total_tasks: z.int().min(1),
    reference_scored_tasks: z.int().min(1),
    reference_score: decimalSchema,
    absolute_score_delta_lte: decimalSchema,
  }),
])
export type Comparison = z.infer<typeof comparisonSchema>

/** `contract.json` of a run: what the campaign may do; `operation` may change at a resume, `scoring` may not. */
export const contractSchema = z.strictObject({
  schema_version: z.literal(2),
  scoring: scoringIdentitySchema,
  operation: operationSchema,
  comparison: comparisonSchema.optional(),
})
export type Contract = z.infer<typeof contractSchema>
