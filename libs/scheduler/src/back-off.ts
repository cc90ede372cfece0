import { retryAllowance, type TrialRecord } from '@osworld-e2b/aggregation'

export interface BackOff {
  /** Milliseconds before the attempt after a first infrastructure fault; doubled for each further one. */
  readonly firstMs: number
  readonly mostMs: number
}

/** An infrastructure that fails is seldom whole a moment later, and many trials that fail together must not storm it together. */
export const defaultBackOff: BackOff = { firstMs: 2_000, mostMs: 60_000 }

/**
 * Milliseconds that the trial's next attempt shall wait after the end of its last one; 0 when it need not. Only faults of
 * the infrastructure in this start of the run count: a resume begins anew.
 */
export function delayMs(record: TrialRecord | undefined, session: number, { firstMs, mostMs }: BackOff): number {
  const faults = (record?.attempts ?? []).filter(
    ({ state, session: plannedIn }) => plannedIn === session && state.phase === 'terminal' && retryAllowance(state.outcome) === 'up_to_limit',
  )
  return faults.length === 0 ? 0 : Math.min(mostMs, firstMs * 2 ** (faults.length - 1))
}
