import { type Aggregate, type Contract, contractSchema, type LedgerEvent, type Outcome } from '@osworld-e2b/contracts'
import { type AttemptIdentity, attemptName, type AttemptHooks, type AttemptReport, type CampaignEvent, type CampaignInput, type CampaignResult, type CampaignServices, memoryLedger, type Pause, runCampaign } from '../src/index.ts'
import { virtualClock, type VirtualClock } from './virtual-clock.ts'

const sha = 'b'.repeat(64)

export function contractWith(taskCount: number, operation: Partial<Contract['operation']> = {}, trials = 1): Contract {
  return contractSchema.parse({
    schema_version: 2,
    scoring: {
      profile: 'p',
      suite: 's',
      tasks: Array.from({ length: taskCount }, (_, index) => ({ domain: 'os', id: `t${index}`, task_sha256: sha })),
      trials,
      template: 'base:6f1f5a3e-0000-4000-8000-000000000000',
      agent: { kind: 'none' },
      max_steps: 5,
      timing: 'settled',
      screen: { width: 1920, height: 1080 },
      enable_proxy: false,
      adjustments_sha256: sha,
    },
    operation: {
      route: { kind: 'local', final: false },
      num_envs: 2,
      max_attempts_per_trial: 3,
      attempt_timeout_seconds: 60,
      ready_deadline_seconds: 60,
      execution_authorized: false,
      ...operation,
    },
  })
}

/** What becomes of an attempt: `creates` false is a create that fails. */
export interface Fate {
  readonly seconds: number
  readonly creates?: boolean
  readonly outcome?: Outcome
  /** Its sandbox stays behind. */
  readonly leaks?: boolean
}

export interface WorldOptions {
  readonly contract: Contract
  fate(identity: AttemptIdentity): Fate
  /** Between which seconds the API does not answer. */
  readonly apiOutage?: readonly [number, number]
  problems?(seconds: number): readonly Pause[]
  readonly before?: readonly LedgerEvent[]
  readonly input?: Partial<CampaignInput>
  skewMs?(seconds: number): number
  /** How long a list of sandboxes takes, and which of them cannot be killed. */
  readonly listSeconds?: number
  isStuck?(id: string, seconds: number): boolean
  onLedger?(event: LedgerEvent): void
  /** Calls `stop` or `drain` at a second. */
  readonly stopAt?: number
  readonly drainAt?: number
  /** The coordinator is gone after so many ledger events. */
  readonly dieAfter?: number
}

export interface World {
  readonly result: CampaignResult | undefined
  readonly ledger: readonly LedgerEvent[]
  readonly events: readonly { readonly seconds: number; readonly event: CampaignEvent }[]
  readonly sandboxes: ReadonlyMap<string, string>
  readonly mostSandboxes: number
  /** Of those that a running attempt owns. */
  readonly mostOwned: number
  readonly createdAt: readonly number[]
  readonly aggregates: readonly Aggregate[]
}

class Died extends Error {}

/** Runs a campaign in a world of numbers: sandboxes are entries of a map, time is virtual. */
export async function live(options: WorldOptions, sandboxes = new Map<string, string>()): Promise<World> {
  const seconds = () => clock.monotonicMs() / 1_000
  const clock: VirtualClock = virtualClock(() => options.skewMs?.(clock.monotonicMs() / 1_000) ?? 0)
  const stop = new AbortController()
  const drain = new AbortController()
  const ledger: LedgerEvent[] = [...(options.before ?? [])]
  const events: { seconds: number; event: CampaignEvent }[] = []
  const aggregates: Aggregate[] = []
  const createdAt: number[] = []
  let mostSandboxes = sandboxes.size
  let [owned, mostOwned] = [0, 0]
  let isDead = false
  const replaying = new Set(ledger)
  const memory = memoryLedger((event) => {
    if (replaying.delete(event)) return
    if (ledger.length - (options.before?.length ?? 0) === options.dieAfter) isDead = true
    if (isDead) throw new Died()
    ledger.push(event)
    options.onLedger?.(event)
  })
  for (const event of ledger) await memory.append(event)
  // A dead coordinator asks nobody for anything.
  const isOut = () => isDead || (options.apiOutage !== undefined && seconds() >= options.apiOutage[0] && seconds() < options.apiOutage[1])
  const runAttempt = async (identity: AttemptIdentity, hooks: AttemptHooks): Promise<AttemptReport> => {
    const fate = options.fate(identity)
    const startMs = clock.monotonicMs()
    await hooks.onStarted({ pid: 1, start: '1' })
    const failed = (reason: 'sandbox_create_failed' | 'interrupted' | 'guest_lost'): AttemptReport => ({ outcome: { kind: 'invalid', reason, message: reason }, cleanup: 'success', seconds: (clock.monotonicMs() - startMs) / 1_000, steps: 0 })
    const isEnded = () => hooks.signal.aborted
    await clock.sleep(1_000, hooks.signal)
    if (isEnded()) return failed('interrupted')
    if (fate.creates === false || isOut()) return failed('sandbox_create_failed')
    const id = `s${createdAt.length}-${attemptName(identity)}`
    sandboxes.set(id, attemptName(identity))
    createdAt.push(seconds())
    mostSandboxes = Math.max(mostSandboxes, sandboxes.size)
    owned += 1
    mostOwned = Math.max(mostOwned, owned)
    hooks.onPhase('setup')
    await clock.sleep(fate.seconds * 1_000, hooks.signal)
    owned -= 1
    if (fate.leaks !== true) sandboxes.delete(id)
    if (isEnded()) return failed('interrupted')
    const sandboxSeconds = (clock.monotonicMs() - startMs) / 1_000
    return { outcome: fate.outcome ?? { kind: 'valid', reward: 1 }, cleanup: 'success', seconds: sandboxSeconds, steps: 1, sandboxSeconds }
  }
  const services: CampaignServices = {
    clock,
    runAttempt,
    closeLeftover: () => Promise.resolve({}),
    listSandboxes: async () => {
      if (isOut()) throw new Error('no network')
      const listed = [...sandboxes].map(([id, attempt]) => ({ id, attempt }))
      if (options.listSeconds !== undefined) await clock.sleep(options.listSeconds * 1_000, new AbortController().signal)
      return listed
    },
    killSandbox: (id) => (isOut() ? Promise.reject(new Error('no network')) : Promise.resolve(options.isStuck?.(id, seconds()) !== true && sandboxes.delete(id))),
    problems: () => Promise.resolve(options.problems?.(seconds()) ?? []),
    writeAggregate: (aggregate) => Promise.resolve(void aggregates.push(aggregate)),
    onEvent: (event) => void events.push({ seconds: seconds(), event }),
    owner: { pid: 1, host: 'h' },
  }
  const at = (second: number | undefined, controller: AbortController) => {
    if (second !== undefined) void clock.sleep(second * 1_000, new AbortController().signal).then(() => controller.abort())
  }
  at(options.stopAt, stop)
  at(options.drainAt, drain)
  const campaign = runCampaign({ runId: 'r', contract: options.contract, ledger: memory, labels: { unconfined: false, unverified: false, simulated: true }, drain: drain.signal, ...options.input }, services, stop.signal)
  const result = await clock.run(campaign).catch((error: unknown) => {
    if (error instanceof Died) return undefined
    throw error
  })
  return { result, ledger, events, sandboxes, mostSandboxes, mostOwned, createdAt, aggregates }
}
