import { replay } from '@osworld-e2b/aggregation'
import type { LedgerEvent, Outcome } from '@osworld-e2b/contracts'
import { expect, test } from 'vitest'
import { expectedSeconds, findExpectedSeconds } from './expected-seconds.ts'

function attempt(task: string, trial: number, seconds: number, outcome: Outcome): LedgerEvent[] {
  const key = { domain: 'os', task_id: task, trial, attempt: 1, timestamp: '2026-01-01T00:00:00.000Z' }
  return [{ event: 'PLANNED', ...key, attempt_dir: 'x' }, { event: 'TERMINAL', ...key, outcome, cleanup: 'success', seconds, steps: 1 }]
}

test('a task takes as long as its valid attempts did on average; failed ones tell nothing', () => {
  const valid: Outcome = { kind: 'valid', reward: 0 }
  const state = replay([...attempt('a', 1, 10, valid), ...attempt('a', 2, 30, valid), ...attempt('b', 1, 5, { kind: 'invalid', reason: 'guest_lost', message: '' })])
  expect([...expectedSeconds(state)]).toEqual([['os/a', 20]])
})

test('a run that is not there is refused by its path', async () => {
  await expect(findExpectedSeconds('/nowhere/r', undefined)).rejects.toThrow('--order-by: there is no run in /nowhere/r; give the name of a run in the results folder, or the path of a run folder.')
  expect(await findExpectedSeconds(undefined, undefined)).toBeUndefined()
})
