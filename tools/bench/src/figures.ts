/** One measured quantity: every sample taken in this run, and what it should stay under. */
export interface Figure {
  readonly name: string
  readonly unit: string
  readonly samples: readonly number[]
  /** Samples should stay below this; absent where there is no target. */
  readonly target?: number
}

export interface Summary {
  readonly name: string
  readonly unit: string
  readonly minimum: number
  readonly median: number
  readonly maximum: number
  readonly count: number
  readonly target?: number
  /** Whether the median meets the target. */
  readonly met?: boolean
}

export function summarise({ name, unit, samples, target }: Figure): Summary {
  const sorted = [...samples].sort((a, b) => a - b)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const middle = Math.floor(sorted.length / 2)
  const median = sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2
  return {
    name,
    unit,
    minimum: at(0),
    median,
    maximum: at(sorted.length - 1),
    count: sorted.length,
    ...(target === undefined ? {} : { target, met: median < target }),
  }
}

/** One plain line a figure: median, range, samples, and the target where there is one. */
export function describe(summary: Summary): string {
  const round = (value: number) => value.toFixed(value < 10 ? 2 : 1)
  const { name, unit, count, target, met } = summary
  const range = count === 1 ? '' : ` (${round(summary.minimum)} to ${round(summary.maximum)}, ${count} runs)`
  const aim = target === undefined ? '' : `, target under ${target} ${unit}: ${met === true ? 'met' : 'missed'}`
  return `${name}: ${round(summary.median)} ${unit}${range}${aim}`
}
