/** How far a run is and how long it will take. */
export interface Pace {
  readonly scored: number
  readonly planned: number
  /** Attempts that ended without a score in this start of the run. */
  readonly unscored: number
  /** Trials scored in a minute, in this start of the run; undefined before the first. */
  readonly perMinute: number | undefined
  /** Seconds until the last trial is scored if it goes on so. */
  readonly etaSeconds: number | undefined
}

export interface PaceInput {
  readonly planned: number
  /** Scored by earlier starts of the run. */
  readonly scoredBefore: number
  readonly scoredNow: number
  readonly unscored: number
  readonly elapsedSeconds: number
}

export function paceOf({ planned, scoredBefore, scoredNow, unscored, elapsedSeconds }: PaceInput): Pace {
  const scored = scoredBefore + scoredNow
  const isMeasured = scoredNow > 0 && elapsedSeconds > 0
  const perMinute = isMeasured ? (scoredNow * 60) / elapsedSeconds : undefined
  const etaSeconds = perMinute === undefined ? undefined : ((planned - scored) * 60) / perMinute
  return { scored, planned, unscored, perMinute, etaSeconds }
}

/** Such as `[5/14 scored, 1 without a score, 3.2 a minute, about 3 min left]`. */
export function paceText({ scored, planned, unscored, perMinute, etaSeconds }: Pace): string {
  const parts = [
    `${scored}/${planned} scored`,
    unscored === 0 ? undefined : `${unscored} without a score`,
    perMinute === undefined ? undefined : `${perMinute.toFixed(1)} a minute`,
    etaSeconds === undefined || etaSeconds === 0 ? undefined : `about ${durationText(etaSeconds)} left`,
  ]
  return `[${parts.filter((part) => part !== undefined).join(', ')}]`
}

/** To the precision that a person plans by: seconds, minutes, or hours and minutes. */
export function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
