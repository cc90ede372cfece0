/** What one simulated campaign came to. */
export interface Figures {
  readonly sandboxes: number
  readonly wallSeconds: number
  /** Time in which ready sandboxes worked, by paid time. */
  readonly utilisation: number
  readonly costUsd: number
  /** Paid time of attempts without a score, by paid time. */
  readonly discardedShare: number
  /** Paid time by what all sandboxes could have been paid for until the end. */
  readonly occupiedShare: number
  readonly attempts: number
  readonly coverage: number
  /** Wall clock that no order of the attempts could beat. */
  readonly leastSeconds: number
}

export interface Spread {
  readonly mean: number
  readonly minimum: number
  readonly maximum: number
}

export type Spreads = Readonly<Record<Exclude<keyof Figures, 'sandboxes'>, Spread>> & { readonly sandboxes: number }

/** Mean and range of the figures of several seeds; there must be one at least. */
export function spreadsOf(figures: readonly [Figures, ...Figures[]]): Spreads {
  const of = (key: keyof Figures): Spread => {
    const values = figures.map((one) => one[key])
    return { mean: values.reduce((total, value) => total + value, 0) / values.length, minimum: Math.min(...values), maximum: Math.max(...values) }
  }
  return {
    sandboxes: figures[0].sandboxes,
    wallSeconds: of('wallSeconds'),
    utilisation: of('utilisation'),
    costUsd: of('costUsd'),
    discardedShare: of('discardedShare'),
    occupiedShare: of('occupiedShare'),
    attempts: of('attempts'),
    coverage: of('coverage'),
    leastSeconds: of('leastSeconds'),
  }
}
