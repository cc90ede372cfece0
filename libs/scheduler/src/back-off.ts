import { retryAllowance, type TrialRecord } from '@osworld-e2b/aggregation'

export interface BackOff {
  /** Milliseconds before the attempt after a first infrastructure fault; doubled for each further one. */
  readonly firstMs: number
  readonly mostMs: number
}

/** An infrastructure that fails is seldom whole a moment later, and many trials that fail together must not storm it together. */
export const defaultBackOff: BackOff = { firstMs: 2_000, mostMs: 60_000 }

/**
 * Unix milliseconds before which the trial's next attempt shall not start; 0 when it need not wait. Only faults of the
 * infrastructure in this start of the run count: a resume begins anew.
 */
export function notBefore(record: TrialRecord | undefined, session: number, { firstMs, mostMs }: BackOff): number {
  const faults = (record?.attempts ?? []).filter(
    ({ state, session: plannedIn }) => plannedIn === session && state.phase === 'terminal' && retryAllowance(state.outcome) === 'up_to_limit',
  )
  const last = faults.at(-1)
  if (last === undefined) return 0
  return Date.parse(last.since) + Math.min(mostMs, firstMs * 2 ** (faults.length - 1))
}
