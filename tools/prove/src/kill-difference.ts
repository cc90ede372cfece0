import { canonicalJson } from '@osworld-e2b/inventory'
import type { InvalidReason } from '@osworld-e2b/contracts'
import type { Expectation } from './kill-table.ts'
import type { TrialFacts } from './trial-facts.ts'

export interface Comparison {
  readonly undisturbed: TrialFacts
  readonly killed: TrialFacts
  readonly expected: Expectation
  /** Attempts that were open when the victim died. */
  readonly openAttempts: number
}

/** Everything in which a killed run differs from an undisturbed one beyond what the kill may cost, a sentence each. */
export function differencesOf({ undisturbed, killed, expected, openAttempts }: Comparison): readonly string[] {
  const lost = expected.loses === 'one' ? 1 : openAttempts
  const reasons = Object.entries(killed.invalidByReason) as [InvalidReason, number][]
  const invalid = reasons.reduce((sum, [, count]) => sum + count, 0)
  const foreign = reasons.filter(([reason]) => !expected.reasons.includes(reason)).map(([reason, count]) => `${count} ${reason}`)
  return [
    killed.isComplete ? [] : ['the run is not complete'],
    canonicalJson(Object.keys(killed.rewards).sort()) === canonicalJson(Object.keys(undisturbed.rewards).sort()) ? [] : [`valid are ${list(killed.rewards)} instead of ${list(undisturbed.rewards)}`],
    ...Object.entries(killed.rewards).map(([trial, reward]) => (undisturbed.rewards[trial] === undefined || undisturbed.rewards[trial] === reward ? [] : [`${trial} scored ${reward} instead of ${undisturbed.rewards[trial]}`])),
    killed.scoreDeclared === undisturbed.scoreDeclared ? [] : [`score_declared is ${killed.scoreDeclared ?? 'null'} instead of ${undisturbed.scoreDeclared ?? 'null'}`],
    invalid === lost ? [] : [`${invalid} attempts have no score instead of ${lost}`],
    foreign.length === 0 ? [] : [`attempts ended as ${foreign.join(', ')} instead of ${expected.reasons.join(' or ')}`],
    killed.plannedAttempts === undisturbed.plannedAttempts + lost ? [] : [`${killed.plannedAttempts} attempts were planned instead of ${undisturbed.plannedAttempts + lost}`],
  ].flat()
}

function list(rewards: TrialFacts['rewards']): string {
  return Object.keys(rewards).sort().join(', ') || 'none'
}
