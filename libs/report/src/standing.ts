import type { TrialModel } from './run-model.ts'

/** In the order in which trials are shown: what needs a look first, what is still to come last. */
export const standings = ['unscored', 'zero', 'partial', 'solved', 'unfinished'] as const
export type Standing = (typeof standings)[number]

/** Where a trial stands: a fault (`unscored`) is not a zero, and what has not ended is neither. */
export function standingOf({ reward, attempts }: Pick<TrialModel, 'reward' | 'attempts'>): Standing {
  if (reward !== undefined) return reward === 0 ? 'zero' : reward < 1 ? 'partial' : 'solved'
  return attempts.at(-1)?.end === undefined ? 'unfinished' : 'unscored'
}

/** For sorting: failed first, then by domain, task and trial. */
export function failedFirst(a: TrialModel, b: TrialModel): number {
  return rank(a) - rank(b) || compare(a.domain, b.domain) || compare(a.id, b.id) || a.trial - b.trial
}

function rank(trial: TrialModel): number {
  return standings.indexOf(standingOf(trial))
}

/** By code unit, so that the order is the same on every machine. */
function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}
