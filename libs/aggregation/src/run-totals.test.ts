import type { LedgerEvent, ModelUsage } from '@osworld-e2b/contracts'
import { expect, test } from 'vitest'
import { aggregate, createRunFold } from './index.ts'

const timestamp = '2026-01-01T00:00:00.000Z'
const usage: ModelUsage = { calls: 2, requests: 3, failed_calls: 0, input_tokens: 100, output_tokens: 10, tokens_known_calls: 2, cost_usd: 0.5, cost_known_calls: 2, endpoints: ['B'] }

function attempt(number: number, extra: object): LedgerEvent[] {
  const key = { domain: 'os', task_id: `t${number}`, trial: 1, attempt: 1, timestamp }
  const end = { event: 'TERMINAL', ...key, outcome: { kind: 'valid', reward: 1 }, cleanup: 'success', seconds: 10, steps: 1, ...extra }
  return [{ event: 'PLANNED', ...key, attempt_dir: 'x' }, end as LedgerEvent]
}

function run(...events: LedgerEvent[]) {
  const fold = createRunFold()
  for (const event of events) fold.apply(event)
  const result = aggregate({ runId: 'r', tasks: [], trials: 1, state: fold.state, totals: fold.totals, updatedAt: timestamp, labels: { unconfined: false, unverified: false } })
  return { totals: fold.totals, result }
}

const started = (price?: number): LedgerEvent => ({ event: 'RUN_STARTED', timestamp, pid: 1, host: 'h', ...(price === undefined ? {} : { sandbox_hour_usd: price }) })

test('time, calls and money add up over attempts and starts, each start at its own price', () => {
  const { totals, result } = run(started(1), ...attempt(1, { sandbox_seconds: 3_600, model: usage }), started(2), ...attempt(2, { sandbox_seconds: 1_800, model: { ...usage, endpoints: ['A'] } }))
  expect(result.used).toEqual({
    sandbox_seconds: 5_400,
    sandbox_usd: 2,
    model: { ...usage, calls: 4, requests: 6, input_tokens: 200, output_tokens: 20, tokens_known_calls: 4, cost_usd: 1, cost_known_calls: 4, endpoints: ['A', 'B'] },
    model_usd: 1,
    total_usd: 3,
  })
  expect(totals.largest).toEqual({ sandboxSeconds: 3_600, modelRequests: 3, modelTokens: 110, modelUsd: 0.5 })
})

test('a price that nobody said and a call whose cost is not known make the sum unknown, not smaller', () => {
  expect(run(started(1), ...attempt(1, { sandbox_seconds: 60 }), started(), ...attempt(2, { sandbox_seconds: 60 })).result.used).toMatchObject({ sandbox_usd: null, total_usd: null })
  expect(run(started(1), ...attempt(1, { sandbox_seconds: 60, model: { ...usage, cost_known_calls: 1 } })).result.used).toMatchObject({ model_usd: null, total_usd: null })
})

test('a pause is over when it is said so, or when the run starts again', () => {
  const pause: LedgerEvent = { event: 'RUN_PAUSED', timestamp, reason: 'disk_full', message: 'full' }
  expect([...run(started(), pause).totals.paused]).toEqual([['disk_full', 'full']])
  expect(run(started(), pause, { event: 'RUN_CONTINUED', timestamp, reason: 'disk_full' }).totals.paused.size).toBe(0)
  expect(run(started(), pause, started()).totals.paused.size).toBe(0)
})

test('sandboxes without an owner add up, and what remains is of the last look', () => {
  const found = (remaining: number): LedgerEvent => ({ event: 'ORPHANS_KILLED', timestamp, when: 'during', orphans: { found: 2, killed: 2 - remaining, remaining } })
  const end: LedgerEvent = { event: 'RUN_ENDED', timestamp, reason: 'budget', orphans: { found: 1, killed: 1, remaining: 0 }, not_run: { budget: 7 } }
  expect(run(started(), found(1), end).result).toMatchObject({ orphans: { found: 3, killed: 2, remaining: 0 }, not_run: { budget: 7 } })
  expect(run(started(), end, started()).result).not.toHaveProperty('not_run')
})
