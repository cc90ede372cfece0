import type { RunStatus } from '@osworld-e2b/contracts'

/** How far a run is, such as `[5/14 scored, 1 without a score, 3.2 a minute, about 3 min left]`. */
export function paceText({ planned, valid, failed, per_minute: perMinute, eta_seconds: etaSeconds }: Pick<RunStatus, 'planned' | 'valid' | 'failed' | 'per_minute' | 'eta_seconds'>): string {
  const parts = [
    `${valid}/${planned} scored`,
    failed === 0 ? undefined : `${failed} without a score`,
    perMinute === null ? undefined : `${perMinute.toFixed(1)} a minute`,
    etaSeconds === null || etaSeconds === 0 ? undefined : `about ${durationText(etaSeconds)} left`,
  ]
  return `[${parts.filter((part) => part !== undefined).join(', ')}]`
}

/** To the precision that a person plans by: seconds, minutes, hours and minutes, or days and hours. */
export function durationText(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 120) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}
