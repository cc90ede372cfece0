import { aggregate, createRunFold, replay } from '@osworld-e2b/aggregation'
import type { Aggregate, LedgerEvent, Outcome } from '@osworld-e2b/contracts'
import { expect, test } from 'vitest'
import { notRunLines, resultTable } from './result-table.ts'

function ended(id: string, outcome: Outcome): LedgerEvent[] {
  const key = { domain: 'os', task_id: id, trial: 1, attempt: 1, timestamp: '2026-01-01T00:00:00.000Z' }
  return [
    { event: 'PLANNED', ...key, attempt_dir: 'x' },
    { event: 'STARTED', ...key, pid: 1, pid_start: '1' },
    { event: 'TERMINAL', ...key, outcome, cleanup: 'success', seconds: 12.34, steps: 3 },
  ]
}

test('what has no score stands first with its reason, then what was not run, then rewards from low to high', () => {
  const state = replay([
    ...ended('solved', { kind: 'valid', reward: 1 }),
    ...ended('failed', { kind: 'valid', reward: 0 }),
    ...ended('lost', { kind: 'invalid', reason: 'guest_lost', phase: 'agent', message: 'The sandbox is gone.' }),
  ])
  const tasks = ['solved', 'failed', 'lost', 'open'].map((id) => ({ domain: 'os', id }))
  expect(resultTable(tasks, 1, state).split('\n')).toEqual([
    'task       reward  seconds  outcome',
    'os/lost         -     12.3  guest_lost in agent: The sandbox is gone.',
    'os/open         -        -  not run',
    'os/failed       0     12.3  valid after 3 steps',
    'os/solved       1     12.3  valid after 3 steps',
  ])
})

test('what was not run is told with what kept it and what to do next', () => {
  const { totals } = createRunFold()
  const aggregated = (not_run: NonNullable<Aggregate['not_run']>) => aggregate({ runId: 'r', tasks: [], trials: 1, state: new Map(), totals: { ...totals, notRun: not_run }, updatedAt: '2026-01-01T00:00:00.000Z', labels: { unconfined: false, unverified: false } })
  expect(notRunLines(aggregated({ budget: 85 }))).toEqual(['85 trials were not run, since the budget does not hold another attempt; resume with a larger one.'])
  expect(notRunLines(aggregated({ drained: 1 }))).toEqual(['1 trial was not run, since the run was drained; resume it to go on.'])
  expect(notRunLines(aggregated({}))).toEqual([])
})
