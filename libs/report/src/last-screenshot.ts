export interface Screenshot {
  readonly name: string
  /** Such as "after step 3". */
  readonly moment: string
}

/** The last screenshot among the names in an attempt's `screenshots/`: after evaluation, else of the highest step, else of the start. */
export function lastScreenshot(names: readonly string[]): Screenshot | undefined {
  const shots = names.map(timed).filter((shot) => shot !== undefined)
  const last = shots.reduce<Timed | undefined>((latest, shot) => (latest === undefined || shot.at > latest.at ? shot : latest), undefined)
  return last && { name: last.name, moment: last.moment }
}

interface Timed extends Screenshot {
  readonly at: number
}

/** Undefined for a file that is none of the attempt's screenshots. */
function timed(name: string): Timed | undefined {
  if (name === 'reset.png') return { name, at: -1, moment: 'at the start' }
  if (name === 'evaluated.png') return { name, at: Infinity, moment: 'after evaluation' }
  const [, step, side] = /^step_(\d+)_(before|after)\.png$/.exec(name) ?? []
  if (step === undefined || side === undefined) return undefined
  return { name, at: Number(step) * 2 + (side === 'after' ? 1 : 0), moment: `${side} step ${Number(step)}` }
}
