import { replay } from '@osworld-e2b/aggregation'
import { type LedgerEvent, type Outcome, parseDocument, type RunStatus, runStatusSchema } from '@osworld-e2b/contracts'
import type { AttemptReport, CampaignEvent } from '@osworld-e2b/scheduler'
import { expect, test } from 'vitest'
import { foldStatus, statusDocument } from './run-status.ts'
import { earlierStarts, endStatus, initialStatus, type StatusPlan, type StatusState } from './status-state.ts'

const startedMs = Date.parse('2026-01-01T00:00:00.000Z')
const nothingBefore = { valid: 0, failed: 0, rewardSum: 0, costUsd: 0 }
const plan: StatusPlan = { runId: 'r', startedMs, planned: 10, numEnvs: 2, maxSteps: 15, maxAttemptsPerTrial: 3, sandboxHourUsd: 0.36, before: nothingBefore }

const identity = (id: string, attempt = 1) => ({ domain: 'os', id, trial: 1, attempt, attemptDir: `attempts/os/${id}/1.${attempt}` })
const started = (id: string, attempt = 1): CampaignEvent => ({ type: 'attempt_started', identity: identity(id, attempt) })
const ended = (id: string, report: Partial<AttemptReport> & { readonly attempt?: number } = {}): CampaignEvent => ({
  type: 'attempt_ended',
  identity: identity(id, report.attempt),
  report: { outcome: { kind: 'valid', reward: 1 }, cleanup: 'success', seconds: 100, steps: 3, sandboxSeconds: 100, ...report },
})
const invalid = (reason: Extract<Outcome, { kind: 'invalid' }>['reason'], phase?: 'agent'): Outcome => ({ kind: 'invalid', reason, message: 'Why.', ...(phase === undefined ? {} : { phase }) })

/** Events with the seconds since the start at which they come. */
function folded(events: readonly (readonly [number, CampaignEvent])[], given: Partial<StatusPlan> = {}): StatusState {
  return events.reduce((state, [second, event]) => foldStatus(state, event, startedMs + second * 1000), initialStatus({ ...plan, ...given }))
}

function documentAt(second: number, events: readonly (readonly [number, CampaignEvent])[], given: Partial<StatusPlan> = {}): RunStatus {
  return parseDocument(runStatusSchema, 'status', statusDocument(folded(events, given), startedMs + second * 1000))
}

test('an attempt is seen from its start to its end', () => {
  const events: [number, CampaignEvent][] = [
    [1, started('a')],
    [2, { type: 'attempt_phase', identity: identity('a'), phase: 'agent' }],
    [3, { type: 'attempt_step', identity: identity('a'), step: 4 }],
  ]
  expect(documentAt(4, events).running).toEqual([
    { domain: 'os', id: 'a', trial: 1, attempt: 1, phase: 'agent', step: 4, max_steps: 15, started_at: '2026-01-01T00:00:01.000Z' },
  ])
  const after = documentAt(101, [...events, [101, ended('a', { outcome: { kind: 'valid', reward: 0.5 } })]])
  expect(after).toMatchObject({ running: [], valid: 1, failed: 0, reward_sum: 0.5 })
  expect(after.events).toEqual([{ at: '2026-01-01T00:01:41.000Z', text: 'os/a: reward 0.5, 3 steps, 100.0 s.' }])
})

test.each([
  ['an infrastructure fault with tries left', [invalid('guest_lost')], 0],
  ['as many faults as the contract allows attempts', [invalid('guest_lost'), invalid('guest_lost'), invalid('guest_lost')], 1],
  ['a set-up that failed once', [invalid('setup_failed')], 0],
  ['a set-up that failed twice', [invalid('setup_failed'), invalid('setup_failed')], 1],
  ["the agent's own time-out", [invalid('timeout', 'agent')], 1],
  ['an interruption, which only another start tries again', [invalid('interrupted')], 1],
])('%s makes %s of the trial failed', (_, outcomes, failed) => {
  const events = outcomes.flatMap((outcome, index): [number, CampaignEvent][] => [[index, started('a', index + 1)], [index, ended('a', { attempt: index + 1, outcome })]])
  expect(documentAt(9, events).failed).toBe(failed)
})

test('a trial that is tried again and gets its score is not failed any more', () => {
  const events: [number, CampaignEvent][] = [[0, started('a')], [1, ended('a', { outcome: invalid('guest_lost') })], [2, started('a', 2)], [3, ended('a', { attempt: 2 })]]
  expect(documentAt(4, events)).toMatchObject({ valid: 1, failed: 0 })
  expect(documentAt(4, events).events.map(({ text }) => text)).toEqual(['os/a: no score (guest_lost): Why, 3 steps, 100.0 s.', 'os/a attempt 2: started.', 'os/a attempt 2: reward 1, 3 steps, 100.0 s.'])
})

test('once nothing more is launched, whatever has no score has failed', () => {
  const events: [number, CampaignEvent][] = [[0, started('a')], [1, ended('a', { outcome: invalid('guest_lost') })]]
  expect(documentAt(2, [...events, [2, { type: 'draining' }]])).toMatchObject({ state: 'draining', failed: 1 })
  expect(statusDocument(endStatus(folded(events)), startedMs + 5000)).toMatchObject({ state: 'ended', failed: 1, running: [], pauses: [] })
})

test('earlier starts count, and what no start tries again is not waited for', () => {
  const key = (id: string) => ({ domain: 'os', task_id: id, trial: 1, attempt: 1, timestamp: '2026-01-01T00:00:00.000Z' })
  const of = (id: string, outcome: Outcome): LedgerEvent[] => [
    { event: 'PLANNED', ...key(id), attempt_dir: 'x' },
    { event: 'TERMINAL', ...key(id), outcome, cleanup: 'success', seconds: 1, steps: 1 },
  ]
  const state = replay([...of('a', { kind: 'valid', reward: 0.25 }), ...of('b', invalid('timeout', 'agent')), ...of('c', invalid('interrupted'))])
  const before = earlierStarts(state, 1.5)
  expect(before).toEqual({ valid: 1, failed: 1, rewardSum: 0.25, costUsd: 1.5 })
  expect(documentAt(0, [], { before })).toMatchObject({ valid: 1, failed: 1, reward_sum: 0.25, per_minute: null, eta_seconds: null, cost: { so_far_usd: 1.5, forecast_usd: null } })
})

test('with little done the time left comes from the mean length of an attempt and what has been worked', () => {
  const events: [number, CampaignEvent][] = [[0, started('a')], [0, started('b')], [100, ended('a')], [100, started('c')]]
  // Nine trials of 100 s are left, 100 s + 50 s of which are worked, by two at a time.
  expect(documentAt(150, events)).toMatchObject({ per_minute: 0.4, eta_seconds: 375 })
})

test('after two rounds the time left comes from the measured rate', () => {
  const events = ['a', 'b', 'c', 'd'].map((id): [number, CampaignEvent] => [200, ended(id)])
  expect(documentAt(200, events)).toMatchObject({ per_minute: 1.2, eta_seconds: 300 })
})

test('what runs last takes as long as its youngest still needs, and nobody knows once it is older than the others got', () => {
  const events: [number, CampaignEvent][] = [[0, started('a')], [0, started('b')], [100, ended('a')], [130, started('c')]]
  expect(documentAt(150, events, { planned: 3 }).eta_seconds).toBe(80)
  expect(documentAt(900, events, { planned: 3 }).eta_seconds).toBeNull()
})

test('a paused run says why, does not know its time left, and its pause is not held against its rate', () => {
  const events: [number, CampaignEvent][] = [
    [0, started('a')],
    [60, ended('a')],
    [60, { type: 'run_paused', reason: 'disk_full', message: 'No room.' }],
    [90, { type: 'run_paused', reason: 'api_unreachable', message: 'No answer.' }],
  ]
  expect(documentAt(100, events)).toMatchObject({ state: 'paused', pauses: [{ reason: 'disk_full', message: 'No room.' }, { reason: 'api_unreachable', message: 'No answer.' }], eta_seconds: null, per_minute: 1 })
  const onceOver: [number, CampaignEvent][] = [...events, [100, { type: 'run_continued', reason: 'disk_full' }]]
  expect(documentAt(110, onceOver).state).toBe('paused')
  expect(documentAt(660, [...onceOver, [660, { type: 'run_continued', reason: 'api_unreachable' }]])).toMatchObject({ state: 'running', pauses: [], per_minute: 1 })
})

const usage = { calls: 2, requests: 2, failed_calls: 0, input_tokens: 1, output_tokens: 1, tokens_known_calls: 2, cost_usd: 0.5, cost_known_calls: 2, endpoints: ['A'] }

test('the cost is of ended attempts and running sandboxes; the forecast goes by the trials that are done', () => {
  const events: [number, CampaignEvent][] = [[0, started('a')], [100, ended('a', { model: usage })]]
  // 100 s at 0.36 dollars an hour are a cent.
  expect(documentAt(100, events).cost).toEqual({ so_far_usd: expect.closeTo(0.51) as number, forecast_usd: expect.closeTo(5.1) as number })
  expect(documentAt(200, [...events, [100, started('b')]]).cost.so_far_usd).toBeCloseTo(0.52)
})

test.each([
  ['the price of a sandbox', { sandboxHourUsd: null }, {}],
  ['the price of one model call', {}, { model: { ...usage, cost_known_calls: 1 } }],
  ['what earlier starts cost', { before: { ...nothingBefore, costUsd: null } }, {}],
])('without %s the cost is unknown, not zero', (_, given, report) => {
  expect(documentAt(100, [[0, started('a')], [100, ended('a', report)]], given).cost).toEqual({ so_far_usd: null, forecast_usd: null })
})

test('an attempt that never had a sandbox costs nothing, whatever a sandbox costs', () => {
  expect(documentAt(1, [[1, { type: 'attempt_ended', identity: identity('a'), report: { outcome: invalid('relay_failed'), cleanup: 'none', seconds: 1, steps: 0 } }]], { sandboxHourUsd: null }).cost.so_far_usd).toBe(0)
})

test('the last twenty events are kept, as sentences of one line', () => {
  const events = Array.from({ length: 30 }, (_, index): [number, CampaignEvent] => [index, ended(`t${index}`, { outcome: { ...invalid('guest_lost'), message: 'Gone.\n\u001B[2Jx' } as Outcome })])
  const { events: kept } = documentAt(40, events)
  expect(kept).toHaveLength(20)
  expect(kept.at(-1)?.text).toBe('os/t29: no score (guest_lost): Gone. x, 3 steps, 100.0 s.')
})

test('a clock that is set back gives no negative time', () => {
  expect(documentAt(-50, [[0, started('a')], [-10, ended('a')], [-20, started('b')]])).toMatchObject({ per_minute: null })
})
