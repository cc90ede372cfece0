import type { ModelCall, ModelUsage } from '@osworld-e2b/contracts'
import { roundUsd } from './cost.ts'

export const noUsage: ModelUsage = {
  calls: 0, requests: 0, failed_calls: 0, input_tokens: 0, output_tokens: 0, tokens_known_calls: 0, cost_usd: 0, cost_known_calls: 0, endpoints: [],
}

/** The sum with one more call. */
export function addCall(sum: ModelUsage, call: ModelCall): ModelUsage {
  const answeredBy = call.outcome === 'answered' && call.endpoint !== null ? [call.endpoint] : []
  return {
    calls: sum.calls + 1,
    requests: sum.requests + call.tries,
    failed_calls: sum.failed_calls + (call.outcome === 'failed' ? 1 : 0),
    input_tokens: sum.input_tokens + (call.tokens?.input ?? 0),
    output_tokens: sum.output_tokens + (call.tokens?.output ?? 0),
    tokens_known_calls: sum.tokens_known_calls + (call.tokens === null ? 0 : 1),
    cost_usd: roundUsd(sum.cost_usd + (call.cost_usd ?? 0)),
    cost_known_calls: sum.cost_known_calls + (call.cost_usd === null ? 0 : 1),
    endpoints: [...new Set([...sum.endpoints, ...answeredBy])].sort(),
  }
}
