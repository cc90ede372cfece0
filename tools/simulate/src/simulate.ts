import type { Aggregate } from '@osworld-e2b/contracts'
import { memoryLedger, runCampaign } from '@osworld-e2b/scheduler'
import { type Assumptions, usdPerHour } from './assumptions.ts'
import { type AttemptAccount, runSimulatedAttempt, type World } from './attempt.ts'
import { Bursts } from './bursts.ts'
import { type CampaignSize, contractOf, trialsOf } from './contract.ts'
import { expectedSecondsOf, fateOf } from './fate.ts'
import type { Figures } from './figures.ts'
import { type ProviderCounts, SimulatedProvider } from './provider.ts'
import { createVirtualClock } from './virtual-clock.ts'

/** `suite`: tasks as they are listed; `longest_first`: by what an earlier run would let one expect. */
export type Order = 'suite' | 'longest_first'

export interface SimulationInput extends CampaignSize {
  readonly seed: string
  readonly order: Order
  readonly assumptions: Assumptions
}

export interface Simulation {
  readonly figures: Figures
  readonly aggregate: Aggregate
  readonly accounts: readonly AttemptAccount[]
  readonly provider: ProviderCounts
}

/** Runs the campaign engine itself in a simulated world; the same input gives the same result. */
export async function simulate(input: SimulationInput): Promise<Simulation> {
  const world = worldOf(input)
  const accounts: AttemptAccount[] = []
  const { clock, provider } = world
  const result = await clock.run(
    runCampaign(
      { runId: 'simulated', contract: contractOf(input, trialsOf(input), input.assumptions), ...expectedSeconds(input), ledger: memoryLedger(), labels: { unconfined: false, unverified: false, simulated: true } },
      {
        clock,
        runAttempt: async (identity, hooks) => {
          const { report, account } = await runSimulatedAttempt(identity, hooks, world)
          accounts.push(account)
          return report
        },
        listSandboxes: () => attempted(() => provider.list()),
        killSandbox: (id) => attempted(() => provider.kill(id)),
        closeLeftover: () => Promise.resolve({}),
        writeAggregate: () => Promise.resolve(),
        onEvent: () => undefined,
        owner: { pid: 1, host: 'simulated' },
      },
      new AbortController().signal,
    ),
  )
  return { figures: figuresOf(input, { accounts, aggregate: result.aggregate, wallMs: clock.monotonicMs() }), aggregate: result.aggregate, accounts, provider: provider.counts }
}

function worldOf({ seed, sandboxes, assumptions }: SimulationInput): World {
  const clock = createVirtualClock(new Date('2026-01-01T00:00:00Z'))
  const bursts = new Bursts(seed, assumptions.burstSeconds * 1_000)
  const provider = new SimulatedProvider({ sandboxes, createsPerSecond: assumptions.createsPerSecond, bursts, monotonicMs: () => clock.monotonicMs() })
  return { seed, assumptions, clock, bursts, provider }
}

/** Of each task's first trial, as an earlier run would have shown them; undefined when none is known. */
function expectedSeconds(input: SimulationInput): { readonly expectedSeconds?: ReadonlyMap<string, number> } {
  if (input.order === 'suite') return {}
  const firsts = trialsOf(input).filter(({ trial }) => trial === 1)
  return { expectedSeconds: new Map(firsts.map((trial) => [`${trial.domain}/${trial.id}`, expectedSecondsOf(input.seed, trial, input.assumptions)])) }
}

/** What a synchronous provider throws becomes a rejection, as of any API. */
function attempted<Value>(work: () => Value): Promise<Value> {
  return new Promise((resolve) => resolve(work()))
}

interface Outcome {
  readonly accounts: readonly AttemptAccount[]
  readonly aggregate: Aggregate
  readonly wallMs: number
}

function figuresOf(input: SimulationInput, { accounts, aggregate, wallMs }: Outcome): Figures {
  const sum = (of: (account: AttemptAccount) => number) => accounts.reduce((total, account) => total + of(account), 0)
  const paidMs = sum((account) => account.paidMs)
  const ofPaid = (ms: number) => (paidMs === 0 ? 0 : ms / paidMs)
  return {
    sandboxes: input.sandboxes,
    wallSeconds: wallMs / 1_000,
    utilisation: ofPaid(sum(({ busyMs }) => busyMs)),
    costUsd: (paidMs / 3_600_000) * usdPerHour(input.assumptions),
    discardedShare: ofPaid(sum((account) => (account.isValid ? 0 : account.paidMs))),
    occupiedShare: paidMs / (wallMs * input.sandboxes),
    attempts: accounts.length,
    coverage: aggregate.coverage ?? 0,
    leastSeconds: leastMs(input) / 1_000,
  }
}

/** Neither all work spread evenly over all sandboxes nor the longest attempt alone can be beaten. */
function leastMs(input: SimulationInput): number {
  const lengths = trialsOf(input).map((trial) => {
    const { readyMs, workMs } = fateOf(input.seed, { ...trial, attempt: 1 }, input.assumptions)
    return readyMs + workMs
  })
  return Math.max(lengths.reduce((total, length) => total + length, 0) / input.sandboxes, ...lengths)
}
