import { setMaxListeners } from 'node:events'
import type { TrialKey } from '@osworld-e2b/aggregation'
import type { NotRunReason, Orphans } from '@osworld-e2b/contracts'
import type { AttemptReport } from './attempt-report.ts'
import { defaultBackOff } from './back-off.ts'
import { defaultBreaker } from './breaker.ts'
import { budgetProblem } from './budget.ts'
import type { AttemptIdentity, CampaignInput, CampaignResult, CampaignServices } from './campaign-types.ts'
import { decide, type Decision, type Limits } from './decide.ts'
import { closeLeftovers } from './leftovers.ts'
import { Notifier } from './notifier.ts'
import { OrphanWatch } from './orphan-watch.ts'
import { PauseTeller } from './pause-teller.ts'
import { problemsEveryMs, ProblemWatch } from './problem-watch.ts'
import { RunRecord } from './run-record.ts'
import { needOf, RunningAttempts } from './running-attempts.ts'
import { asError, isDiskFull, isSystemError, SchedulerError, unwritable } from './scheduler-error.ts'
import { withDiskFault, workerLost } from './worker-lost.ts'

const lookEveryMs = 60_000

/**
 * Runs every trial of the contract that is not valid yet. `stop` ends what runs; `input.drain` lets it finish; either way nothing more is
 * started. Throws `run_unwritable` when what happens cannot be recorded.
 */
export async function runCampaign(input: CampaignInput, services: CampaignServices, stop: AbortSignal): Promise<CampaignResult> {
  const campaign = new Campaign(input, services, stop)
  try {
    await campaign.open()
    const notRun = await campaign.loop()
    return await campaign.close(notRun)
  } catch (error) {
    throw isSystemError(error) ? unwritable('The run folder', error) : error
  } finally {
    campaign.dispose()
  }
}

class Campaign {
  readonly #input: CampaignInput
  readonly #services: CampaignServices
  readonly #stop: AbortSignal
  readonly #attempts = new RunningAttempts()
  readonly #record: RunRecord
  readonly #problems: ProblemWatch
  readonly #changed: Notifier
  readonly #orphans: OrphanWatch
  readonly #limits: Limits
  readonly #halt = new AbortController()
  /** Aborts when running attempts are to be ended, for whatever reason. */
  readonly #ending: AbortSignal
  readonly #pauses: PauseTeller
  #watching: Promise<void> = Promise.resolve()
  /** The first failure of the record, or of the look at what a start needs; it stops the run and is thrown at its end. */
  #broken: Error | undefined
  /** Once what runs is not what the run was made of, nothing more is started. */
  #hasDrifted = false

  constructor(input: CampaignInput, services: CampaignServices, stop: AbortSignal) {
    this.#input = input
    this.#services = services
    this.#stop = stop
    this.#ending = AbortSignal.any([stop, this.#halt.signal])
    // One listener or more for every running attempt is no leak.
    setMaxListeners(0, this.#ending)
    this.#record = new RunRecord(input, services)
    this.#problems = new ProblemWatch(services)
    this.#changed = new Notifier([stop, ...(input.drain === undefined ? [] : [input.drain])])
    this.#pauses = new PauseTeller(services, { begun: (pause) => this.#recorded(this.#record.paused(pause)), over: (reason) => this.#recorded(this.#record.continued(reason)) })
    this.#limits = limitsOf(input, services)
    this.#orphans = new OrphanWatch({
      clock: services.clock,
      list: () => services.listSandboxes(),
      kill: (id) => services.killSandbox(id),
      running: () => this.#attempts.names,
      onLook: ({ orphans }) => this.#onLook('during', orphans),
      everyMs: input.lookEveryMs ?? lookEveryMs,
    })
  }

  /** Kills what an earlier owner left and closes its open attempts as interrupted. */
  async open(): Promise<void> {
    await this.#record.runStarted()
    const orphans = await this.#orphans.look()
    this.#onLook('start', orphans)
    for (const { identity, report } of await closeLeftovers(this.#input.ledger.state, this.#services, orphans)) await this.#record.ended(identity, report)
    await this.#keep(() => this.#record.writeAggregate())
    this.#watching = this.#orphans.run()
  }

  async loop(): Promise<Partial<Record<NotRunReason, number>>> {
    for (;;) {
      // Whatever fails here, what runs is brought to its recorded end.
      await this.#problems.ask().catch((error: unknown) => this.#break(error))
      const decision = this.#decide()
      if (decision.kind === 'done') return decision.notRun
      if (decision.kind === 'start') this.#launch(decision.trial, decision.attempt)
      else await this.#wait(decision)
    }
  }

  async close(notRun: Partial<Record<NotRunReason, number>>): Promise<CampaignResult> {
    this.#orphans.stop()
    // A look that is under way may have listed before the last attempt ended.
    await this.#watching
    const orphans = await this.#orphans.look()
    if (this.#broken !== undefined) throw this.#broken
    const reason = this.#endReason(notRun)
    this.#pauses.endRecord()
    await this.#record.runEnded(reason, notRun, orphans)
    const aggregate = await this.#keep(() => this.#record.writeAggregate())
    return { aggregate, orphans, reason }
  }

  dispose(): void {
    this.#orphans.stop()
    this.#changed.dispose()
  }

  #decide(): Decision {
    const { contract, ledger, backOff, breaker, attemptModelUsd } = this.#input
    const services = this.#services
    const totals = ledger.totals()
    const nowMs = services.clock.monotonicMs()
    const spending = this.#attempts.spending(totals, needOf(contract, totals, attemptModelUsd), (identity) => services.modelUsage?.(identity))
    return decide({
      plan: contract.scoring,
      state: ledger.state,
      session: ledger.session(),
      running: this.#attempts.ids,
      endedMs: this.#attempts.endedMs,
      launchedMs: this.#attempts.launchedSince(nowMs),
      expectedSeconds: this.#input.expectedSeconds,
      orphans: this.#orphans.remaining,
      creating: this.#attempts.creating,
      createFaults: this.#attempts.createFaults,
      modelPermits: services.modelPermits?.(),
      pauses: [...this.#problems.problems, ...(this.#orphans.pause === undefined ? [] : [this.#orphans.pause])],
      budgetProblem: budgetProblem(contract.operation.budget, spending),
      limits: this.#limits,
      backOff: backOff ?? defaultBackOff,
      breaker: breaker ?? defaultBreaker,
      nowMs,
      stopping: this.#stopping(),
    })
  }

  #stopping(): NotRunReason | undefined {
    if (this.#stop.aborted || this.#broken !== undefined) return 'interrupted'
    if (this.#hasDrifted) return 'identity_drift'
    return this.#input.drain?.aborted === true ? 'drained' : undefined
  }

  async #wait({ untilMs, pauses }: Extract<Decision, { kind: 'wait' }>): Promise<void> {
    this.#pauses.decided(pauses)
    const { clock } = this.#services
    const called = new AbortController()
    const changed = this.#changed.next()
    const time = Math.min(untilMs === undefined ? Infinity : untilMs - clock.monotonicMs(), pauses.length === 0 ? Infinity : problemsEveryMs)
    try {
      await (time === Infinity ? changed : Promise.race([changed, clock.sleep(time, called.signal)]))
    } finally {
      called.abort()
    }
  }

  #onLook(when: 'start' | 'during', orphans: Orphans | undefined): void {
    this.#changed.notify()
    if (orphans === undefined || (orphans.found === 0 && orphans.killed === 0)) return
    this.#services.onEvent({ type: 'orphans_killed', when, orphans })
    this.#recorded(this.#record.orphansKilled(when, orphans))
  }

  /** Claims the trial synchronously; everything after that is the attempt's own. */
  #launch(trial: TrialKey, attempt: number): void {
    this.#pauses.decided([])
    const { contract, ledger, attemptModelUsd } = this.#input
    const identity = { ...trial, attempt, attemptDir: `attempts/${trial.domain}/${trial.id}/${trial.trial}.${attempt}` }
    this.#attempts.launch(identity, needOf(contract, ledger.totals(), attemptModelUsd), this.#services.clock.monotonicMs())
    void this.#run(identity)
  }

  async #run(identity: AttemptIdentity): Promise<void> {
    let report: AttemptReport | undefined
    const wasFull = this.#problems.fullDiskSince()
    try {
      await this.#record.planned(identity)
      this.#services.onEvent({ type: 'attempt_started', identity })
      report = withDiskFault(await this.#attempt(identity), wasFull())
      if (report.outcome.kind === 'invalid' && report.outcome.reason === 'identity_drift') this.#hasDrifted = true
      await this.#record.ended(identity, report)
    } catch (error) {
      this.#break(error)
    }
    this.#attempts.end(identity, report ?? workerLost(this.#broken), this.#services.clock.monotonicMs())
    if (report !== undefined) this.#services.onEvent({ type: 'attempt_ended', identity, report })
    // The aggregate is a fold and is written again; a full disk delays it, and a broken record holds less than its fold.
    if (this.#broken === undefined) this.#recorded(this.#record.writeAggregate().catch((error: unknown) => (isDiskFull(error) ? undefined : Promise.reject(asError(error)))))
    this.#changed.notify()
  }

  /** A fault of one attempt is its outcome; only the record's is everybody's. */
  async #attempt(identity: AttemptIdentity): Promise<AttemptReport> {
    try {
      return await this.#services.runAttempt(identity, {
        onStarted: (process) => this.#record.started(identity, process),
        onPhase: (phase) => {
          this.#attempts.phase(identity, phase)
          this.#services.onEvent({ type: 'attempt_phase', identity, phase })
          this.#changed.notify()
        },
        onStep: (step) => this.#services.onEvent({ type: 'attempt_step', identity, step }),
        signal: this.#ending,
      })
    } catch (error) {
      if (error instanceof SchedulerError && error.code === 'run_unwritable') throw error
      return workerLost(error)
    }
  }

  #endReason(notRun: Partial<Record<NotRunReason, number>>): CampaignResult['reason'] {
    const [reason] = Object.keys(notRun) as NotRunReason[]
    if (reason !== undefined) return reason
    if (this.#record.fold().complete) return 'complete'
    return this.#stopping() ?? 'incomplete'
  }

  #recorded(writing: Promise<unknown>): void {
    writing.catch((error: unknown) => this.#break(error))
  }

  /** Nothing that runs from now on could be recorded. */
  #break(error: unknown): void {
    this.#broken ??= asError(error)
    this.#halt.abort(this.#broken)
    this.#changed.notify()
  }

  #keep<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#services.room === undefined ? work() : this.#services.room.keep(work)
  }
}

function limitsOf({ contract }: CampaignInput, { clock }: CampaignServices): Limits {
  const { num_envs: numEnvs, max_attempts_per_trial: maxAttemptsPerTrial, launches_per_second: launchesPerSecond, run_seconds: runSeconds } = contract.operation
  return { numEnvs, maxAttemptsPerTrial, launchesPerSecond, deadlineMs: runSeconds === undefined ? undefined : clock.monotonicMs() + runSeconds * 1_000 }
}
