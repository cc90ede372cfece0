import type { RunStatus } from '@osworld-e2b/contracts'
import { durationText } from '../run/pace.ts'
import type { Span } from './spans.ts'

/** How many trials are where. */
export function countFigures({ planned, valid, failed, running, state }: RunStatus): readonly Span[] {
  return present([
    { text: `${valid}/${planned} valid`, tint: 'green' },
    failed === 0 ? undefined : { text: `${failed} failed`, tint: 'red' },
    running.length === 0 ? undefined : { text: `${running.length} running`, tint: 'yellow' },
    { text: `${restOf({ planned, valid, failed, running })} ${state === 'ended' ? 'not run' : 'to go'}` },
  ])
}

/** Trials that neither ended for good nor run. */
export function restOf({ planned, valid, failed, running }: Pick<RunStatus, 'planned' | 'valid' | 'failed' | 'running'>): number {
  return Math.max(0, planned - valid - failed - running.length)
}

/** Never one flattering number: what is not valid counts nothing, and how much is valid stands beside it. */
export function scoreFigures({ planned, valid, reward_sum: rewardSum }: RunStatus): readonly Span[] {
  if (planned === 0 || valid === 0) return [{ text: 'no score yet' }]
  return [
    { text: `score ${(rewardSum / planned).toFixed(4)} of all planned`, tint: 'bold' },
    { text: `coverage ${(valid / planned).toFixed(4)}`, tint: 'bold' },
    { text: `${(rewardSum / valid).toFixed(4)} of the valid` },
  ]
}

/** Rate, time left, money. */
export function paceFigures({ per_minute: perMinute, eta_seconds: etaSeconds, cost, state }: RunStatus): readonly Span[] {
  return present([
    perMinute === null ? undefined : { text: `${perMinute.toFixed(1)} valid a minute` },
    etaSeconds === null || etaSeconds === 0 ? undefined : { text: `about ${durationText(etaSeconds)} left` },
    { text: cost.so_far_usd === null ? 'cost unknown' : `${usdText(cost.so_far_usd)} so far` },
    cost.forecast_usd === null || state === 'ended' ? undefined : { text: `${usdText(cost.forecast_usd)} forecast` },
  ])
}

function usdText(usd: number): string {
  return usd > 0 && usd < 0.01 ? 'under $0.01' : `$${usd.toFixed(2)}`
}

function present(spans: readonly (Span | undefined)[]): readonly Span[] {
  return spans.filter((span) => span !== undefined)
}
