import { z } from 'zod'
import { timestampSchema } from './primitives.ts'

/** A number written as text, since languages print fractions differently. */
const decimalSchema = z.string().regex(/^\d+(\.\d+)?$/, 'must be a decimal number as text, such as "0.15"')

/** US dollars for a million tokens, by the model's name as the agent asks for it. */
export const priceTableSchema = z.strictObject({
  $schema: z.string().optional(),
  schema_version: z.literal(1),
  description: z.string().optional(),
  models: z.record(
    z.string().min(1),
    z.strictObject({
      input: decimalSchema,
      output: decimalSchema,
      /** Of input tokens that the service read from its cache; like `input` when absent. */
      cached_input: decimalSchema.optional(),
      /** Of input tokens that were written to the cache; like `input` when absent. */
      cache_write: decimalSchema.optional(),
    }),
  ),
})
export type PriceTable = z.infer<typeof priceTableSchema>

export const modelApiSchema = z.enum(['openai_chat', 'openai_responses', 'anthropic_messages', 'other'])
export type ModelApi = z.infer<typeof modelApiSchema>

const countSchema = z.int().min(0)

/** Tokens as the service counted them; `input` includes what was cached. */
export const tokenCountsSchema = z.strictObject({
  input: countSchema,
  output: countSchema,
  cached_input: countSchema.optional(),
  cache_write: countSchema.optional(),
})
export type TokenCounts = z.infer<typeof tokenCountsSchema>

/**
 * How a call ended: `answered`; `rejected`, the request itself was at fault (400, 413, 422), which is the agent's; `failed` for good, which
 * is the service's or the operator's; `refused` by a cap of the run; `abandoned` by the agent or with its attempt.
 */
export const callOutcomeSchema = z.enum(['answered', 'rejected', 'failed', 'refused', 'abandoned'])
export type CallOutcome = z.infer<typeof callOutcomeSchema>

/** One line of `model-calls.jsonl`: one call of the agent, with all its tries. */
export const modelCallSchema = z.strictObject({
  /** Counted from 1 within the attempt, in the order of arrival. */
  call: z.int().min(1),
  started_at: timestampSchema,
  /** From its arrival to the last byte of its answer, waiting and tries included. */
  seconds: z.number().min(0),
  /** To the first byte of the answer; absent without one. */
  first_byte_seconds: z.number().min(0).optional(),
  api: modelApiSchema,
  /** As the agent asked for it; null when the request names none. */
  model: z.string().nullable(),
  /** Label of the endpoint that gave the last answer; null when none was asked. */
  endpoint: z.string().nullable(),
  /** Requests sent to endpoints. */
  tries: countSchema,
  outcome: callOutcomeSchema,
  /** HTTP status that the agent got; null when its connection was gone. */
  status: z.int().nullable(),
  /** Of the endpoint's last failure, without addresses and keys. */
  error: z.string().optional(),
  stream: z.boolean(),
  /** Null is unknown, which is not zero. */
  tokens: tokenCountsSchema.nullable(),
  /** US dollars by the price table; null is unknown. */
  cost_usd: z.number().min(0).nullable(),
  /** Only when the run was asked to keep it; keys are redacted. */
  content: z.strictObject({ request: z.unknown(), response: z.unknown() }).optional(),
})
export type ModelCall = z.infer<typeof modelCallSchema>

/** Sums over calls. What no call told is unknown: `*_known_calls` says how many the sum is of. */
export const modelUsageSchema = z.strictObject({
  calls: countSchema,
  /** Requests sent to endpoints, tries included. */
  requests: countSchema,
  failed_calls: countSchema,
  input_tokens: countSchema,
  output_tokens: countSchema,
  tokens_known_calls: countSchema,
  cost_usd: z.number().min(0),
  cost_known_calls: countSchema,
  /** Endpoint labels that answered, sorted. */
  endpoints: z.array(z.string()),
})
export type ModelUsage = z.infer<typeof modelUsageSchema>
