import type { Random } from './random.ts'

export interface LogNormal {
  readonly mu: number
  readonly sigma: number
}

/** The standard normal's 95th percentile. */
const z95 = 1.644853626951472

/** The log-normal with this median and 95th percentile. */
export function withMedian({ median, p95 }: { readonly median: number; readonly p95: number }): LogNormal {
  return { mu: Math.log(median), sigma: Math.log(p95 / median) / z95 }
}

/**
 * A log-normal with this mean and 95th percentile. From mean = exp(mu + sigma²/2) and p95 = exp(mu + z·sigma) follows
 * sigma = z ± sqrt(z² - 2·ln(p95/mean)); the smaller one is taken, since the other has nearly everything at zero.
 */
export function withMean({ mean, p95 }: { readonly mean: number; readonly p95: number }): LogNormal {
  const sigma = z95 - Math.sqrt(z95 ** 2 - 2 * Math.log(p95 / mean))
  return { mu: Math.log(p95) - z95 * sigma, sigma }
}

/** The other log-normal of the same mean and 95th percentile. */
export function twinOf({ mu, sigma }: LogNormal): LogNormal {
  const other = 2 * z95 - sigma
  return { mu: mu + z95 * (sigma - other), sigma: other }
}

/** The figures by which people know it. */
export function figuresOf({ mu, sigma }: LogNormal): { readonly mean: number; readonly median: number; readonly p95: number } {
  return { mean: Math.exp(mu + sigma ** 2 / 2), median: Math.exp(mu), p95: Math.exp(mu + z95 * sigma) }
}

export function draw({ mu, sigma }: LogNormal, random: Random): number {
  return Math.exp(mu + sigma * random.normal())
}
