import type { ModelApi, TokenCounts } from '@osworld-e2b/contracts'
import { isRecord } from './wire.ts'

type Fields = Readonly<Record<string, unknown>>

/** Tokens from the `usage` object of an answer; null when it does not tell both directions. */
export function tokensOf(api: ModelApi, usage: unknown): TokenCounts | null {
  if (!isRecord(usage)) return null
  if (api === 'anthropic_messages') return anthropicTokens(usage)
  return api === 'openai_responses' ? responsesTokens(usage) : chatTokens(usage)
}

function chatTokens(usage: Fields): TokenCounts | null {
  const input = count(usage['prompt_tokens'])
  const output = count(usage['completion_tokens'])
  return input === undefined || output === undefined ? null : { input, output, ...cachedInput(usage['prompt_tokens_details']) }
}

function responsesTokens(usage: Fields): TokenCounts | null {
  const input = count(usage['input_tokens'])
  const output = count(usage['output_tokens'])
  return input === undefined || output === undefined ? null : { input, output, ...cachedInput(usage['input_tokens_details']) }
}

/** Anthropic counts what was read from and written to the cache apart from `input_tokens`. */
function anthropicTokens(usage: Fields): TokenCounts | null {
  const uncached = count(usage['input_tokens'])
  const output = count(usage['output_tokens'])
  if (uncached === undefined || output === undefined) return null
  const cached = count(usage['cache_read_input_tokens'])
  const written = count(usage['cache_creation_input_tokens'])
  return {
    input: uncached + (cached ?? 0) + (written ?? 0),
    output,
    ...(cached === undefined ? {} : { cached_input: cached }),
    ...(written === undefined ? {} : { cache_write: written }),
  }
}

function cachedInput(details: unknown): { cached_input?: number } {
  const cached = isRecord(details) ? count(details['cached_tokens']) : undefined
  return cached === undefined ? {} : { cached_input: cached }
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
