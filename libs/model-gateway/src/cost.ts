import type { PriceTable, TokenCounts } from '@osworld-e2b/contracts'

/** US dollars of one call by the price table; null when the model or its tokens are unknown. */
export function costUsd(prices: PriceTable, model: string | null, tokens: TokenCounts | null): number | null {
  const price = model !== null && Object.hasOwn(prices.models, model) ? prices.models[model] : undefined
  if (price === undefined || tokens === null) return null
  const cached = tokens.cached_input ?? 0
  const written = tokens.cache_write ?? 0
  const millionths =
    Math.max(0, tokens.input - cached - written) * Number(price.input) +
    cached * Number(price.cached_input ?? price.input) +
    written * Number(price.cache_write ?? price.input) +
    tokens.output * Number(price.output)
  return roundUsd(millionths / 1_000_000)
}

/** To a hundred-millionth of a cent, which hides what binary fractions add. */
export function roundUsd(usd: number): number {
  return Number(usd.toFixed(10))
}
