import type { LedgerEvent } from '@osworld-e2b/contracts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { contractWith, type Fate, live } from './virtual-world.ts'

const count = (ledger: readonly LedgerEvent[], name: LedgerEvent['event']) => ledger.filter(({ event }) => event === name).length

test('at two at a time everything is run, and no more than two sandboxes ever exist', async () => {
  const { result, mostSandboxes, sandboxes } = await live({ contract: contractWith(9), fate: () => ({ seconds: 100 }) })
  expect(result).toMatchObject({ reason: 'complete', aggregate: { valid_tasks: 9, score_declared: 1, simulated: true, used: { sandbox_seconds: 909 } } })
  expect(mostSandboxes).toBe(2)
  expect(sandboxes.size).toBe(0)
})

test('in no second more sandboxes are asked for than the rate allows', async () => {
  const { createdAt } = await live({ contract: contractWith(40, { num_envs: 40, launches_per_second: 5 }), fate: () => ({ seconds: 60 }) })
  for (const second of createdAt) expect(createdAt.filter((other) => other >= second && other < second + 1).length).toBeLessThanOrEqual(5)
})

describe('what goes wrong around a run', () => {
  test('ten minutes without the API pause the run, use up no attempts, and leave nothing', async () => {
    const { result, ledger, sandboxes } = await live({ contract: contractWith(20), fate: () => ({ seconds: 30 }), apiOutage: [100, 700], input: { lookEveryMs: 10_000 } })
    expect(result).toMatchObject({ reason: 'complete', aggregate: { valid_tasks: 20 } })
    const faults = ledger.filter((event) => event.event === 'TERMINAL' && event.outcome.kind === 'invalid')
    expect(faults.length).toBeLessThanOrEqual(4)
    expect(ledger).toContainEqual(expect.objectContaining({ event: 'RUN_PAUSED', reason: 'api_unreachable', message: 'The sandboxes cannot be listed: no network' }))
    expect(count(ledger, 'RUN_CONTINUED')).toBe(count(ledger, 'RUN_PAUSED'))
    expect(sandboxes.size).toBe(0)
  })

  test('a provider that refuses every create for a while gets few requests, and no trial is lost to it', async () => {
    let asked = 0
    const { result } = await live({
      contract: contractWith(30, { num_envs: 10 }),
      fate: () => ({ seconds: 60, creates: (asked += 1) > 18 }),
    })
    expect(result).toMatchObject({ reason: 'complete', aggregate: { valid_tasks: 30, invalid_by_reason: { sandbox_create_failed: 18 } } })
  })

  test('a full disk pauses the run until there is room', async () => {
    const pause = { reason: 'disk_full', message: 'no room' } as const
    const { result, events } = await live({ contract: contractWith(10), fate: () => ({ seconds: 30 }), problems: (seconds) => (seconds > 50 && seconds < 5_000 ? [pause] : []) })
    expect(result?.reason).toBe('complete')
    const during = events.filter(({ seconds, event }) => event.type === 'attempt_started' && seconds > 52 && seconds < 5_000)
    expect(during).toEqual([])
    expect(events.map(({ event }) => event)).toContainEqual({ type: 'run_paused', ...pause })
  })

  test('a clock that jumps a day, forward or back, changes nothing of what is waited for', async () => {
    let tries = 0
    const { result, events } = await live({
      contract: contractWith(4),
      fate: () => ({ seconds: 30, ...((tries += 1) < 3 ? { outcome: { kind: 'invalid', reason: 'guest_lost', message: 'gone' } as const } : {}) }),
      skewMs: (seconds) => (seconds > 20 ? -86_400_000 : 0),
    })
    expect(result?.reason).toBe('complete')
    expect(events.at(-1)?.seconds).toBeLessThan(300)
  })

  test('a sandbox that an attempt leaves behind is found, killed and counted, and takes a place until it is gone', async () => {
    const { result, sandboxes, ledger, mostSandboxes } = await live({ contract: contractWith(12), fate: ({ id }) => ({ seconds: 50, leaks: id === 't0' }), input: { lookEveryMs: 20_000 } })
    expect(result).toMatchObject({ reason: 'complete', aggregate: { orphans: { found: 1, killed: 1, remaining: 0 } } })
    expect(count(ledger, 'ORPHANS_KILLED')).toBe(1)
    expect(sandboxes.size).toBe(0)
    expect(mostSandboxes).toBeLessThanOrEqual(3)
  })
})

describe('an end before the end', () => {
  test('a drain finishes what runs and says what it left', async () => {
    const { result, ledger } = await live({ contract: contractWith(10), fate: () => ({ seconds: 100 }), drainAt: 150 })
    expect(result).toMatchObject({ reason: 'drained', aggregate: { valid_tasks: 4, not_run: { drained: 6 }, invalid_by_reason: {} } })
    expect(ledger.at(-1)).toMatchObject({ event: 'RUN_ENDED', reason: 'drained', not_run: { drained: 6 } })
  })

  test('a stop interrupts what runs', async () => {
    const { result } = await live({ contract: contractWith(10), fate: () => ({ seconds: 100 }), stopAt: 150 })
    expect(result).toMatchObject({ reason: 'interrupted', aggregate: { valid_tasks: 2, invalid_by_reason: { interrupted: 2 }, not_run: { interrupted: 8 } } })
  })

  test('the deadline of a run starts nothing more', async () => {
    const { result } = await live({ contract: contractWith(10, { run_seconds: 150 }), fate: () => ({ seconds: 100 }) })
    expect(result).toMatchObject({ reason: 'deadline', aggregate: { valid_tasks: 4, not_run: { deadline: 6 } } })
  })

  test('a budget is never passed, and a resume goes on with what is left of it', async () => {
    // Each attempt is reserved its time-out of 60 s and takes 31 s; an hour holds 116 of them, the last ones one at a time.
    const options = { contract: contractWith(200, { budget: { sandbox_hours: 1 }, num_envs: 4 }), fate: () => ({ seconds: 30 }) }
    const first = await live(options)
    expect(first.result).toMatchObject({ reason: 'budget', aggregate: { not_run: { budget: 85 }, valid_tasks: 115 } })
    expect(first.result?.aggregate.used?.sandbox_seconds).toBeLessThanOrEqual(3_600)
    const second = await live({ ...options, before: first.ledger })
    expect(second.result).toMatchObject({ reason: 'budget', aggregate: { valid_tasks: 115 } })
    const richer = await live({ ...options, contract: contractWith(200, { budget: { sandbox_hours: 2 }, num_envs: 4 }), before: second.ledger })
    expect(richer.result).toMatchObject({ reason: 'complete', aggregate: { valid_tasks: 200 } })
  })
})

/** The same trial always comes to the same reward, whatever happens to its attempts. */
const rewardOf = (id: string) => (Number(id.slice(1)) % 3) / 2

const fate = fc.record({
  seconds: fc.integer({ min: 1, max: 58 }),
  kind: fc.constantFrom('valid', 'valid', 'valid', 'creates', 'guest_lost', 'runner_exit', 'leaks'),
})

function fateOf(fates: readonly { readonly seconds: number; readonly kind: string }[], index: number, id: string): Fate {
  const { seconds, kind } = fates[index % fates.length] ?? { seconds: 1, kind: 'valid' }
  if (kind === 'creates') return { seconds, creates: false }
  if (kind === 'guest_lost' || kind === 'runner_exit') return { seconds, outcome: { kind: 'invalid', reason: kind, message: kind } }
  return { seconds, leaks: kind === 'leaks', outcome: { kind: 'valid', reward: rewardOf(id) } }
}

test('whatever happens to its attempts, and wherever the coordinator dies, a run resumed comes to the same end and leaves nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fate, { minLength: 1, maxLength: 12 }), fc.integer({ min: 1, max: 6 }), fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 4 }), async (fates, numEnvs, deaths) => {
      const contract = contractWith(7, { num_envs: numEnvs, max_attempts_per_trial: 50 }, 2)
      const sandboxes = new Map<string, string>()
      let ledger: readonly LedgerEvent[] = []
      let index = 0
      const start = (dieAfter?: number) =>
        live({ contract, before: ledger, fate: ({ id }) => fateOf([...fates, { seconds: 1, kind: 'valid' }], (index += 1), id), input: { lookEveryMs: 30_000 }, ...(dieAfter === undefined ? {} : { dieAfter }) }, sandboxes)
      for (const death of deaths) {
        const world = await start(death)
        ledger = world.ledger
        expect(world.mostOwned).toBeLessThanOrEqual(numEnvs)
      }
      const { result } = await start()
      const onceOnly = result?.aggregate.invalid_by_reason.runner_exit ?? 0
      if (onceOnly === 0) expect(result).toMatchObject({ reason: 'complete', aggregate: { valid_tasks: 7, reward_sum: 3 } })
      expect(result?.aggregate.valid_tasks).toBeGreaterThanOrEqual(7 - onceOnly)
      expect(result?.orphans).toMatchObject({ remaining: 0 })
      expect(sandboxes.size).toBe(0)
    }),
    { numRuns: 150 },
  )
})
