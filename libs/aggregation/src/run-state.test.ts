import type { LedgerEvent } from '@osworld-e2b/contracts'
import { expect, test } from 'vitest'
import { aggregate, AggregationError, createRunFold, noTotals, replay, retryAllowance } from './index.ts'

const key = { domain: 'os', task_id: 'a', trial: 1, timestamp: '2026-01-01T00:00:00.000Z' }
const planned = (attempt: number, task = 'a'): LedgerEvent => ({
  event: 'PLANNED',
  ...key,
  task_id: task,
  attempt,
  attempt_dir: `attempts/os/${task}/1.${attempt}`,
})
const started = (attempt: number, task = 'a'): LedgerEvent => ({ event: 'STARTED', ...key, task_id: task, attempt, pid: 7, pid_start: '1' })
const valid = (attempt: number, reward: number, task = 'a'): LedgerEvent => ({
  event: 'TERMINAL',
  ...key,
  task_id: task,
  attempt,
  outcome: { kind: 'valid', reward },
  cleanup: 'success',
  seconds: 2,
  steps: 1,
})
const lost = (attempt: number): LedgerEvent => ({
  event: 'TERMINAL',
  ...key,
  attempt,
  outcome: { kind: 'invalid', reason: 'guest_lost', message: 'gone' },
  cleanup: 'success',
  seconds: 1,
  steps: 0,
})

test.each([
  ['started before planned', [started(1)]],
  ['planned twice', [planned(1), planned(1)]],
  ['a second attempt while the first is open', [planned(1), started(1), planned(2)]],
  ['an attempt number left out', [planned(2)]],
  ['two ends', [planned(1), started(1), valid(1, 1), valid(1, 0)]],
  ['a new attempt after a valid one', [planned(1), started(1), valid(1, 0), planned(2)]],
])('a ledger with %s is refused', (_title, events) => {
  expect(() => replay(events)).toThrow(AggregationError)
})

test('an attempt that was planned and never started may be closed', () => {
  const state = replay([planned(1), lost(1), planned(2), started(2), valid(2, 0.5)])
  expect(state.get('os/a#1')?.attempts.map((attempt) => attempt.state.phase)).toEqual(['terminal', 'terminal'])
})

test('a refused event changes nothing', () => {
  const fold = createRunFold()
  fold.apply(planned(1))
  expect(() => fold.apply(planned(2))).toThrow(AggregationError)
  expect(fold.state.get('os/a#1')?.attempts).toHaveLength(1)
})

test('a partial run shows its declared score with its coverage, and an infrastructure fault is no zero', () => {
  const state = replay([planned(1), started(1), lost(1), planned(1, 'b'), started(1, 'b'), valid(1, 1, 'b')])
  const tasks = ['a', 'b', 'c', 'd'].map((id) => ({ domain: 'os', id }))
  const result = aggregate({
    runId: 'r',
    tasks,
    trials: 1,
    state,
    totals: noTotals,
    updatedAt: key.timestamp,
    labels: { unconfined: false, unverified: false },
  })
  expect(result).toMatchObject({
    complete: false,
    planned_tasks: 4,
    attempted_tasks: 2,
    valid_tasks: 1,
    remaining_tasks: 3,
    score_declared: 0.25,
    score_valid: 1,
    coverage: 0.25,
    invalid_by_reason: { guest_lost: 1 },
    attempt_seconds: 3,
  })
  expect(result).not.toHaveProperty('unconfined')
})

test('a task of two trials has a reward only when both are valid', () => {
  const second = (event: LedgerEvent): LedgerEvent => ({ ...event, trial: 2 }) as LedgerEvent
  const first = [planned(1), started(1), valid(1, 1)]
  const input = { runId: 'r', tasks: [{ domain: 'os', id: 'a' }], trials: 2, totals: noTotals, updatedAt: key.timestamp, labels: { unconfined: true, unverified: false } }
  expect(aggregate({ ...input, state: replay(first) })).toMatchObject({ valid_tasks: 0, score_valid: null, unconfined: true })
  const both = replay([...first, second(planned(1)), second(started(1)), second(valid(1, 0))])
  expect(aggregate({ ...input, state: both })).toMatchObject({ valid_tasks: 1, reward_sum: 0.5, complete: true })
})

test('a slow agent is not tried again, a slow set-up is', () => {
  const timeout = { kind: 'invalid', reason: 'timeout', message: '' } as const
  expect(retryAllowance({ ...timeout, phase: 'agent' })).toBe('never')
  expect(retryAllowance({ ...timeout, phase: 'setup' })).toBe('up_to_limit')
  expect(retryAllowance({ kind: 'valid', reward: 0 })).toBe('never')
})
