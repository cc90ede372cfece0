import { trialId } from '@osworld-e2b/aggregation'
import { expect, test } from 'vitest'
import { defaultAssumptions } from '../src/assumptions.ts'
import { Bursts } from '../src/bursts.ts'
import { simulate, type Simulation, type SimulationInput } from '../src/simulate.ts'

const small: SimulationInput = { sandboxes: 10, tasks: 60, trials: 1, seed: 'a', order: 'suite', assumptions: defaultAssumptions }
/** A world in which a small campaign meets everything. */
const rough = { ...defaultAssumptions, vanishShare: 0.15, createFailureShare: 0.1, maxAttemptsPerTrial: 10 }
const worlds = ['a', 'b', 'c'].flatMap((seed) => [3, 25, 200].map((sandboxes) => ({ seed, sandboxes, run: simulateOnce({ ...small, seed, sandboxes, trials: 2, assumptions: rough }) })))

/** The campaign is run when it is first asked for, and then kept. */
function simulateOnce(input: SimulationInput): () => Promise<Simulation> {
  let running: Promise<Simulation> | undefined
  return () => (running ??= simulate(input))
}

test('one seed gives one campaign, and another seed another', async () => {
  const [first, again, other] = [await simulate(small), await simulate(small), await simulate({ ...small, seed: 'b' })]
  expect(again).toEqual(first)
  expect(other.figures.wallSeconds).not.toBe(first.figures.wallSeconds)
})

test.each(worlds)('in world $seed every task is scored once by $sandboxes sandboxes, whatever fails on the way', async ({ run }) => {
  const { accounts, aggregate } = await run()
  const scored = accounts.filter(({ isValid }) => isValid).map(({ identity }) => trialId(identity))
  expect(new Set(scored).size).toBe(120)
  expect(scored).toHaveLength(120)
  expect(aggregate).toMatchObject({ complete: true, valid_tasks: 60, terminal_attempts: accounts.length, simulated: true })
  expect(accounts.length).toBeGreaterThan(120)
})

test.each(worlds)('in world $seed nothing is asked of the provider beyond $sandboxes sandboxes and five creates in any second', async ({ sandboxes, run }) => {
  const { provider } = await run()
  expect(provider.mostSandboxes).toBeGreaterThan(0)
  expect(provider.mostSandboxes).toBeLessThanOrEqual(sandboxes)
  expect(provider.refused).toMatchObject({ rate: 0, full: 0 })
})

test.each(worlds)('in world $seed what $sandboxes sandboxes were paid for is what the ledger says, and never less than what was busy', async ({ run }) => {
  const { accounts, aggregate, figures } = await run()
  for (const { paidMs, busyMs } of accounts) expect(paidMs).toBeGreaterThanOrEqual(busyMs)
  const paidSeconds = accounts.reduce((total, { paidMs }) => total + paidMs / 1_000, 0)
  expect(aggregate.used?.sandbox_seconds).toBeCloseTo(paidSeconds, 3)
  expect(figures.costUsd).toBeCloseTo((paidSeconds / 3_600) * (4 * 0.0504 + 8 * 0.0162), 6)
  expect(figures.wallSeconds).toBeGreaterThan(figures.leastSeconds)
})

test('the score does not depend on how many sandboxes work at a time', async () => {
  const scores = await Promise.all([1, 10, 500].map(async (sandboxes) => (await simulate({ ...small, sandboxes, assumptions: rough })).aggregate.score_declared))
  expect(new Set(scores).size).toBe(1)
  expect(scores[0]).toBeGreaterThan(0)
})

test('in a world without any fault nothing is discarded and every task takes one attempt', async () => {
  const { figures, provider } = await simulate({ ...small, assumptions: { ...defaultAssumptions, vanishShare: 0, createFailureShare: 0, burstSeconds: 0 } })
  expect(figures).toMatchObject({ attempts: 60, discardedShare: 0, coverage: 1 })
  expect(provider.refused).toEqual({ burst: 0, rate: 0, full: 0, chance: 0 })
})

test('a provider that creates nothing ends the run without a score, is not stormed, and costs nothing', async () => {
  const { figures, provider } = await simulate({ ...small, tasks: 10, assumptions: { ...defaultAssumptions, createFailureShare: 1 } })
  expect(figures).toMatchObject({ coverage: 0, costUsd: 0, utilisation: 0, discardedShare: 0 })
  const creates = Object.values(provider.refused).reduce((total, count) => total + count, 0)
  expect(creates).toBe(10 * defaultAssumptions.maxAttemptsPerTrial)
  // Once the breaker is open there is at most one create in its longest time, five minutes.
  expect(figures.wallSeconds).toBeGreaterThan((creates - 20) * 300)
})

test('ten minutes in which neither creates nor lists are answered pause the run and use up no trial', async () => {
  const { seed, burst } = seedWithBurstAtOnce(600_000)
  const assumptions = { ...defaultAssumptions, vanishShare: 0, createFailureShare: 0, burstSeconds: 600, timeToLiveSeconds: 1_800, maxAttemptsPerTrial: 3 }
  const { figures, provider, aggregate } = await simulate({ ...small, sandboxes: 100, tasks: 100, seed, assumptions })
  expect(aggregate.complete).toBe(true)
  expect(provider.refused.burst).toBeGreaterThanOrEqual(5)
  expect(provider.refused.burst).toBeLessThan(40)
  expect(figures.wallSeconds).toBeGreaterThan(burst.endMs / 1_000)
})

test('sandboxes that live no longer than a burst are all lost in it', async () => {
  const alive = await simulate(small)
  const lost = await simulate({ ...small, assumptions: { ...defaultAssumptions, timeToLiveSeconds: 60 } })
  expect(lost.aggregate.invalid_by_reason.guest_lost ?? 0).toBeGreaterThanOrEqual((alive.aggregate.invalid_by_reason.guest_lost ?? 0) + small.sandboxes)
})

test('starting long tasks first ends sooner', async () => {
  const assumptions = { ...defaultAssumptions, vanishShare: 0, createFailureShare: 0 }
  const suite = await simulate({ ...small, assumptions })
  const longestFirst = await simulate({ ...small, order: 'longest_first', assumptions })
  expect(longestFirst.figures.wallSeconds).toBeLessThan(suite.figures.wallSeconds)
})

/** A world whose first burst begins while the first sandboxes are still being asked for. */
function seedWithBurstAtOnce(burstMs: number) {
  for (let seed = 0; ; seed += 1) {
    const [burst] = new Bursts(String(seed), burstMs).between(0, 3_600_000)
    if (burst !== undefined && burst.startMs > 3_000 && burst.startMs < 15_000) return { seed: String(seed), burst }
  }
}
