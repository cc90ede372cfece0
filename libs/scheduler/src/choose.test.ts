import { replay } from '@osworld-e2b/aggregation'
import type { InvalidReason, LedgerEvent, Outcome } from '@osworld-e2b/contracts'
import { describe, expect, test } from 'vitest'
import { chooseNext, type ChooseInput } from './choose.ts'

const timestamp = '2026-01-01T00:00:00.000Z'
const started: LedgerEvent = { event: 'RUN_STARTED', timestamp, pid: 1, host: 'h' }
const invalid = (reason: InvalidReason): Outcome => ({ kind: 'invalid', reason, message: '' })

function attempts(task: string, outcomes: readonly Outcome[], from = 1): LedgerEvent[] {
  return outcomes.flatMap((outcome, index) => {
    const key = { domain: 'os', task_id: task, trial: 1, attempt: from + index, timestamp }
    return [
      { event: 'PLANNED', ...key, attempt_dir: 'x' },
      { event: 'TERMINAL', ...key, outcome, cleanup: 'none', seconds: 1, steps: 0 },
    ] satisfies LedgerEvent[]
  })
}

function choose(events: readonly LedgerEvent[], change: Partial<ChooseInput> = {}) {
  return chooseNext({
    plan: { tasks: [{ domain: 'os', id: 'a' }, { domain: 'os', id: 'b' }], trials: 1 },
    state: replay(events),
    session: events.filter(({ event }) => event === 'RUN_STARTED').length,
    running: new Set(),
    limits: { numEnvs: 2, maxAttemptsPerTrial: 3 },
    backOff: { firstMs: 1_000, mostMs: 3_000 },
    nowMs: Date.parse(timestamp) + 3_000,
    isStopping: false,
    ...change,
  })
}

const done = attempts('b', [{ kind: 'valid', reward: 0 }])

describe('what starts next', () => {
  test('nothing, while as many run as may', () => {
    expect(choose([started], { running: new Set(['os/a#1', 'os/b#1']) })).toEqual({ kind: 'wait' })
  })

  test('nothing, once the run is being stopped', () => {
    expect(choose([started], { isStopping: true })).toEqual({ kind: 'done' })
    expect(choose([started], { isStopping: true, running: new Set(['os/a#1']) })).toEqual({ kind: 'wait' })
  })

  test('the first task that does not run yet', () => {
    expect(choose([started], { running: new Set(['os/a#1']) })).toMatchObject({ kind: 'start', trial: { id: 'b' }, attempt: 1 })
  })
})

test.each([
  ['a valid zero', [{ kind: 'valid', reward: 0 }], false],
  ['two infrastructure faults', [invalid('guest_lost'), invalid('guest_lost')], true],
  ['three infrastructure faults', [invalid('guest_lost'), invalid('relay_failed'), invalid('guest_not_ready')], false],
  ['one runner fault', [invalid('runner_exit')], true],
  ['two runner faults', [invalid('runner_exit'), invalid('evaluator_error')], false],
  ['a slow agent', [{ kind: 'invalid', reason: 'timeout', phase: 'agent', message: '' }], false],
  ['four interruptions', Array.from({ length: 4 }, () => invalid('interrupted')), true],
] as const)('after %s another attempt is allowed or not', (_title, outcomes, isAllowed) => {
  const decision = choose([started, ...attempts('a', outcomes), ...done])
  expect(decision).toEqual(isAllowed ? expect.objectContaining({ kind: 'start', attempt: outcomes.length + 1 }) : { kind: 'done' })
})

test('a resume starts with fresh limits, but never tries a slow agent again', () => {
  const faults = attempts('a', [invalid('guest_lost'), invalid('guest_lost'), invalid('guest_lost')])
  expect(choose([started, ...faults, ...done, started])).toMatchObject({ kind: 'start', attempt: 4 })
  const slow = attempts('a', [{ kind: 'invalid', reason: 'timeout', phase: 'agent', message: '' }])
  expect(choose([started, ...slow, ...done, started])).toEqual({ kind: 'done' })
})

describe('after a fault of the infrastructure', () => {
  const at = Date.parse(timestamp)
  const faults = (count: number) => attempts('a', Array.from({ length: count }, () => invalid('guest_lost')))

  test.each([
    [1, 1_000],
    [2, 2_000],
  ])('number %i the trial waits %i ms, while others go on', (count, delayMs) => {
    const events = [started, ...faults(count)]
    expect(choose([...events, ...done], { nowMs: at + delayMs - 1 })).toEqual({ kind: 'wait', untilMs: at + delayMs })
    expect(choose(events, { nowMs: at + delayMs - 1 })).toMatchObject({ kind: 'start', trial: { id: 'b' } })
    expect(choose([...events, ...done], { nowMs: at + delayMs })).toMatchObject({ kind: 'start', trial: { id: 'a' } })
  })

  test('the wait has an upper bound, and a resume does not wait', () => {
    const limits = { numEnvs: 2, maxAttemptsPerTrial: 9 }
    expect(choose([started, ...faults(8), ...done], { limits, nowMs: at })).toEqual({ kind: 'wait', untilMs: at + 3_000 })
    expect(choose([started, ...faults(8), ...done, started], { limits, nowMs: at })).toMatchObject({ kind: 'start' })
  })

  test('a fault of the runner waits for nothing', () => {
    expect(choose([started, ...attempts('a', [invalid('runner_exit')]), ...done], { nowMs: at })).toMatchObject({ kind: 'start' })
  })
})
