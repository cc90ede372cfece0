import { replay } from '@osworld-e2b/aggregation'
import type { InvalidReason, LedgerEvent, Outcome } from '@osworld-e2b/contracts'
import { describe, expect, test } from 'vitest'
import { defaultBreaker, noCreateFaults } from './breaker.ts'
import { decide, type DecideInput, type Pause } from './decide.ts'

const timestamp = '2026-01-01T00:00:00.000Z'
const started: LedgerEvent = { event: 'RUN_STARTED', timestamp, pid: 1, host: 'h' }
const invalid = (reason: InvalidReason): Outcome => ({ kind: 'invalid', reason, message: '' })
const nowMs = 1_000_000

function attempts(task: string, outcomes: readonly Outcome[], from = 1): LedgerEvent[] {
  return outcomes.flatMap((outcome, index) => {
    const key = { domain: 'os', task_id: task, trial: 1, attempt: from + index, timestamp }
    return [
      { event: 'PLANNED', ...key, attempt_dir: 'x' },
      { event: 'TERMINAL', ...key, outcome, cleanup: 'none', seconds: 1, steps: 0 },
    ] satisfies LedgerEvent[]
  })
}

const limits = { numEnvs: 2, maxAttemptsPerTrial: 3, launchesPerSecond: undefined, deadlineMs: undefined }

function choose(events: readonly LedgerEvent[], change: Partial<DecideInput> = {}) {
  return decide({
    plan: { tasks: [{ domain: 'os', id: 'a' }, { domain: 'os', id: 'b' }], trials: 1 },
    state: replay(events),
    session: events.filter(({ event }) => event === 'RUN_STARTED').length,
    running: new Set(),
    endedMs: new Map([['os/a#1', nowMs]]),
    launchedMs: [],
    expectedSeconds: undefined,
    orphans: 0,
    creating: 0,
    createFaults: noCreateFaults,
    modelPermits: undefined,
    pauses: [],
    budgetProblem: undefined,
    limits,
    backOff: { firstMs: 1_000, mostMs: 3_000 },
    breaker: defaultBreaker,
    nowMs: nowMs + 3_000,
    stopping: undefined,
    ...change,
  })
}

const wait = { kind: 'wait', pauses: [] }
const done = attempts('b', [{ kind: 'valid', reward: 0 }])

describe('what starts next', () => {
  test('nothing, while as many run as may', () => {
    expect(choose([started], { running: new Set(['os/a#1', 'os/b#1']) })).toEqual(wait)
  })

  test('the first task that does not run yet', () => {
    expect(choose([started], { running: new Set(['os/a#1']) })).toMatchObject({ kind: 'start', trial: { id: 'b' }, attempt: 1 })
  })

  test('what was tried least, so that nothing is tried again while something was not tried', () => {
    expect(choose([started, ...attempts('a', [invalid('runner_exit')])])).toMatchObject({ kind: 'start', trial: { id: 'b' } })
  })

  test('nothing, while sandboxes that nobody owns take the places', () => {
    expect(choose([started], { orphans: 2 })).toEqual(wait)
    expect(choose([started], { orphans: 1 })).toMatchObject({ kind: 'start' })
    expect(choose([started], { orphans: 1, running: new Set(['os/a#1']) })).toEqual(wait)
  })

  test('no more than the endpoints of the model serve', () => {
    expect(choose([started], { modelPermits: 1, running: new Set(['os/a#1']) })).toEqual(wait)
  })
})

describe('a run that is to end', () => {
  test.each(['interrupted', 'drained', 'identity_drift'] as const)('when %s, it waits for what runs and counts what it leaves', (stopping) => {
    expect(choose([started], { stopping, running: new Set(['os/a#1']) })).toEqual(wait)
    expect(choose([started], { stopping })).toEqual({ kind: 'done', notRun: { [stopping]: 2 } })
    expect(choose([started, ...done], { stopping })).toEqual({ kind: 'done', notRun: { [stopping]: 1 } })
    expect(choose([started, ...done, ...attempts('a', [{ kind: 'valid', reward: 1 }])], { stopping })).toEqual({ kind: 'done', notRun: {} })
  })

  test('starts nothing after its deadline', () => {
    const overdue = { ...limits, deadlineMs: nowMs + 3_000 }
    expect(choose([started], { limits: overdue })).toEqual({ kind: 'done', notRun: { deadline: 2 } })
    expect(choose([started], { limits: { ...overdue, deadlineMs: nowMs + 3_001 } })).toMatchObject({ kind: 'start' })
  })

  test('waits for the end of what runs before it calls the budget used up', () => {
    const budgetProblem = 'The budget of 1 sandbox hours does not hold another attempt.'
    expect(choose([started], { budgetProblem, running: new Set(['os/a#1']) })).toEqual(wait)
    expect(choose([started], { budgetProblem })).toEqual({ kind: 'done', notRun: { budget: 2 } })
  })
})

test.each([
  ['a valid zero', [{ kind: 'valid', reward: 0 }], false],
  ['two infrastructure faults', [invalid('guest_lost'), invalid('guest_lost')], true],
  ['three infrastructure faults', [invalid('guest_lost'), invalid('relay_failed'), invalid('guest_not_ready')], false],
  ['one runner fault', [invalid('runner_exit')], true],
  ['two runner faults', [invalid('runner_exit'), invalid('evaluator_error')], false],
  ['a slow agent', [{ kind: 'invalid', reason: 'timeout', phase: 'agent', message: '' }], false],
  ['an interruption', [invalid('interrupted')], false],
] as const)('after %s another attempt is allowed or not', (_title, outcomes, isAllowed) => {
  const decision = choose([started, ...attempts('a', outcomes), ...done])
  expect(decision).toEqual(isAllowed ? expect.objectContaining({ kind: 'start', attempt: outcomes.length + 1 }) : { kind: 'done', notRun: {} })
})

test('a resume starts with fresh limits, but never tries a slow agent again', () => {
  const faults = attempts('a', [invalid('guest_lost'), invalid('guest_lost'), invalid('guest_lost')])
  expect(choose([started, ...faults, ...done, started])).toMatchObject({ kind: 'start', attempt: 4 })
  const slow = attempts('a', [{ kind: 'invalid', reason: 'timeout', phase: 'agent', message: '' }])
  expect(choose([started, ...slow, ...done, started])).toEqual({ kind: 'done', notRun: {} })
})

test('four interruptions of earlier starts use up nothing, and one of this start is left for the next', () => {
  const ended = Array.from({ length: 4 }, (_, index) => [started, ...attempts('a', [invalid('interrupted')], index + 1)]).flat()
  expect(choose([...ended, ...done, started])).toMatchObject({ kind: 'start', attempt: 5 })
  expect(choose([...ended, ...done], { stopping: 'interrupted' })).toEqual({ kind: 'done', notRun: { interrupted: 1 } })
})

test('what drifted is tried again at a resume, since its file may be back', () => {
  const drifted = [started, ...attempts('a', [invalid('identity_drift')]), ...done]
  expect(choose([...drifted, started])).toMatchObject({ kind: 'start', attempt: 2 })
})

describe('after a fault of the infrastructure', () => {
  const faults = (count: number) => attempts('a', Array.from({ length: count }, () => invalid('guest_lost')))

  test.each([
    [1, 1_000],
    [2, 2_000],
  ])('number %i the trial waits %i ms, while others go on', (count, delayMs) => {
    const events = [started, ...faults(count)]
    expect(choose([...events, ...done], { nowMs: nowMs + delayMs - 1 })).toEqual({ ...wait, untilMs: nowMs + delayMs })
    expect(choose(events, { nowMs: nowMs + delayMs - 1 })).toMatchObject({ kind: 'start', trial: { id: 'b' } })
    expect(choose([...events, ...done], { nowMs: nowMs + delayMs })).toMatchObject({ kind: 'start', trial: { id: 'a' } })
  })

  test('the wait has an upper bound, and a resume does not wait', () => {
    const patient = { ...limits, maxAttemptsPerTrial: 9 }
    expect(choose([started, ...faults(8), ...done], { limits: patient, nowMs })).toEqual({ ...wait, untilMs: nowMs + 3_000 })
    expect(choose([started, ...faults(8), ...done, started], { limits: patient, nowMs })).toMatchObject({ kind: 'start' })
  })

  test('a fault of the runner waits for nothing', () => {
    expect(choose([started, ...attempts('a', [invalid('runner_exit')]), ...done], { nowMs })).toMatchObject({ kind: 'start' })
  })
})

describe('the launch rate', () => {
  const rate = { ...limits, launchesPerSecond: 2 }

  test('holds the third of two a second back until the first is a second ago', () => {
    const launchedMs = [nowMs + 2_500, nowMs + 2_900]
    expect(choose([started], { limits: rate, launchedMs })).toEqual({ ...wait, untilMs: nowMs + 3_500 })
    expect(choose([started], { limits: rate, launchedMs, nowMs: nowMs + 3_500 })).toMatchObject({ kind: 'start' })
    expect(choose([started], { limits: rate, launchedMs: launchedMs.slice(1) })).toMatchObject({ kind: 'start' })
  })
})

describe('the breaker', () => {
  const open = { inARow: 5, lastMs: nowMs }
  const pause: Pause = { reason: 'sandbox_creates_fail', message: '5 creates of sandboxes failed in a row, so the next is tried only after a while.' }

  test('is closed while fewer than five creates failed in a row', () => {
    expect(choose([started], { createFaults: { ...open, inARow: 4 } })).toMatchObject({ kind: 'start' })
  })

  test('keeps the run from asking for sandboxes, longer with each failure', () => {
    expect(choose([started], { createFaults: open })).toEqual({ kind: 'wait', pauses: [pause], untilMs: nowMs + 15_000 })
    expect(choose([started], { createFaults: { ...open, inARow: 7 } })).toMatchObject({ kind: 'wait', untilMs: nowMs + 60_000 })
    expect(choose([started], { createFaults: { ...open, inARow: 70 } })).toMatchObject({ kind: 'wait', untilMs: nowMs + 300_000 })
  })

  test('lets one through after its time, and no other until its fate is known', () => {
    expect(choose([started], { createFaults: open, nowMs: nowMs + 15_000 })).toMatchObject({ kind: 'start' })
    expect(choose([started], { createFaults: open, nowMs: nowMs + 15_000, creating: 1, running: new Set(['os/a#1']) })).toEqual(wait)
  })
})

describe('where lengths are known', () => {
  const expectedSeconds = new Map([['os/a', 10], ['os/b', 100]])

  test('the longest comes first, also when it was tried before', () => {
    expect(choose([started], { expectedSeconds })).toMatchObject({ kind: 'start', trial: { id: 'b' } })
    expect(choose([started, ...attempts('b', [invalid('runner_exit')])], { expectedSeconds })).toMatchObject({ kind: 'start', trial: { id: 'b' }, attempt: 2 })
    expect(choose([started], { expectedSeconds: new Map([['os/b', 100]]) })).toMatchObject({ kind: 'start', trial: { id: 'a' } })
  })

  test('a second trial never comes before a first', () => {
    const plan = { tasks: [{ domain: 'os', id: 'a' }, { domain: 'os', id: 'b' }], trials: 2 }
    expect(choose([started, ...done], { plan, expectedSeconds })).toMatchObject({ kind: 'start', trial: { id: 'a', trial: 1 } })
  })

  test('while creates fail, trials take turns', () => {
    const failing = { expectedSeconds, createFaults: { inARow: 5, lastMs: 0 } }
    expect(choose([started, ...attempts('b', [invalid('sandbox_create_failed')])], { ...failing })).toMatchObject({ kind: 'start', trial: { id: 'a' } })
  })
})

test('a breaker whose time is over is not waited for while something else keeps the run paused', () => {
  const pauses: readonly Pause[] = [{ reason: 'api_unreachable', message: 'no network' }]
  expect(choose([started], { pauses, createFaults: { inARow: 5, lastMs: 0 } })).toEqual({ kind: 'wait', pauses })
})

test('a pause keeps everything from being started and is told, but does not keep a finished run open', () => {
  const pauses: readonly Pause[] = [{ reason: 'model_unhealthy', message: 'The endpoint A answers 503.' }]
  expect(choose([started], { pauses })).toEqual({ kind: 'wait', pauses })
  expect(choose([started, ...done, ...attempts('a', [{ kind: 'valid', reward: 1 }])], { pauses })).toEqual({ kind: 'done', notRun: {} })
})
