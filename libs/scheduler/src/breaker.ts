/** Creates of sandboxes that failed one after another, whatever trial they were for. */
export interface CreateFaults {
  readonly inARow: number
  /** When the last of them failed, on the monotonic clock. */
  readonly lastMs: number
}

export interface BreakerSettings {
  /** So many failures in a row open the breaker. */
  readonly threshold: number
  /** How long it stays open at first; doubled for each further failure. */
  readonly firstMs: number
  readonly mostMs: number
}

export const noCreateFaults: CreateFaults = { inARow: 0, lastMs: 0 }

/** A provider that answers 429 or 5xx to every create gets a request a while, instead of one from every trial. */
export const defaultBreaker: BreakerSettings = { threshold: 5, firstMs: 15_000, mostMs: 300_000 }

/** Monotonic milliseconds until which no sandbox shall be asked for; undefined while the breaker is closed. */
export function openUntilMs({ inARow, lastMs }: CreateFaults, { threshold, firstMs, mostMs }: BreakerSettings): number | undefined {
  if (inARow < threshold) return undefined
  return lastMs + Math.min(mostMs, firstMs * 2 ** (inARow - threshold))
}
