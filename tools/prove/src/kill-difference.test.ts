import { expect, test } from 'vitest'
import { differencesOf } from './kill-difference.ts'
import type { TrialFacts } from './trial-facts.ts'

const undisturbed: TrialFacts = { rewards: { 'os/a/1': 1, 'os/b/1': 1 }, plannedAttempts: 2, invalidByReason: {}, scoreDeclared: 1, isComplete: true }
const one = { loses: 'one', reasons: ['relay_failed'] } as const
const open = { loses: 'open', reasons: ['interrupted'] } as const

test('a run that cost one more attempt, for the reason of the kill, is the same run', () => {
  const killed: TrialFacts = { ...undisturbed, plannedAttempts: 3, invalidByReason: { relay_failed: 1 } }
  expect(differencesOf({ undisturbed, killed, expected: one, openAttempts: 2 })).toEqual([])
})

test('a coordinator that was killed costs every attempt that was open, and none when none was', () => {
  const killed: TrialFacts = { ...undisturbed, plannedAttempts: 4, invalidByReason: { interrupted: 2 } }
  expect(differencesOf({ undisturbed, killed, expected: open, openAttempts: 2 })).toEqual([])
  expect(differencesOf({ undisturbed, killed: undisturbed, expected: open, openAttempts: 0 })).toEqual([])
})

test.each([
  [{ plannedAttempts: 2 }, ['2 attempts were planned instead of 3']],
  [{ invalidByReason: { relay_failed: 2 }, plannedAttempts: 4 }, ['2 attempts have no score instead of 1', '4 attempts were planned instead of 3']],
  [{ invalidByReason: { guest_lost: 1 } }, ['attempts ended as 1 guest_lost instead of relay_failed']],
  [{ rewards: { 'os/a/1': 1, 'os/b/1': 0 }, scoreDeclared: 0.5 }, ['os/b/1 scored 0 instead of 1', 'score_declared is 0.5 instead of 1']],
  [{ rewards: { 'os/a/1': 1 }, scoreDeclared: 0.5, isComplete: false }, ['the run is not complete', 'valid are os/a/1 instead of os/a/1, os/b/1', 'score_declared is 0.5 instead of 1']],
] as const)('%j is told as a difference', (change, sentences) => {
  const killed: TrialFacts = { ...undisturbed, plannedAttempts: 3, invalidByReason: { relay_failed: 1 }, ...change }
  expect(differencesOf({ undisturbed, killed, expected: one, openAttempts: 2 })).toEqual(sentences)
})
