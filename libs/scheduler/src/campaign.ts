import { aggregate, type TrialKey } from '@osworld-e2b/aggregation'
import type { Aggregate, AttemptEvent, NotRunReason, Orphans, PauseReason } from '@osworld-e2b/contracts'
import type { AttemptReport } from './attempt-report.ts'
import { defaultBackOff } from './back-off.ts'
import { defaultBreaker } from './breaker.ts'
import { budgetProblem } from './budget.ts'
import type { AttemptIdentity, CampaignInput, CampaignResult, CampaignServices } from './campaign-types.ts'
import { decide, type Decision, type Limits, type Pause } from './decide.ts'
import { closeLeftovers } from './leftovers.ts'
import { Notifier } from './notifier.ts'
import { OrphanWatch } from './orphan-watch.ts'
import { needOf, RunningAttempts } from './running-attempts.ts'
import { isDiskFull, SchedulerError } from './scheduler-error.ts'
import { withDiskFault, workerLost } from './worker-lost.ts'

const lookEveryMs = 60_000
/** How often what keeps a run from starting attempts is asked about again. */
const problemsEveryMs = 1_000

/**
 * Runs every trial of the contract that is not valid yet. `stop` ends what runs; `input.drain` lets it finish; either way nothing more is
 * started. Throws `run_unwritable` when the ledger cannot be written.
 */
export async function runCampaign(input: CampaignInput, services: CampaignServices, stop: AbortSignal): Promise<CampaignResult> {
  const campaign = new Campaign(input, services, stop)
  try {
    await campaign.open()
    const notRun = await campaign.loop()
    return await campaign.close(notRun)
  } finally {
    campaign.dispose()
  }
}

class Campaign {
  readonly #input: CampaignInput
  readonly #services: CampaignServices
  readonly #stop: AbortSignal
  readonly #attempts = new RunningAttempts()
  readonly #changed: Notifier
  readonly #orphans: OrphanWatch
  readonly #limits: Limits
  readonly #paused = new Map<PauseReason, Pause>()
  /** The first failure of the ledger; it stops the run and is thrown at its end. */
  #broken: Error | undefined
  /** Once what runs is not what the run was made of, nothing more is started. */
  #hasDrifted = false
  #problems: readonly Pause[] = []
  #askedMs = -Infinity

  constructor(input: CampaignInput, services: CampaignServices, stop: AbortSignal) {
    this.#input = input
    this.#services = services
    this.#stop = stop
    this.#changed = new Notifier([stop, ...(input.drain === undefined ? [] : [input.drain])])
    const { num_envs: numEnvs, max_attempts_per_trial: maxAttemptsPerTrial, launches_per_second: launchesPerSecond, run_seconds: runSeconds } = input.contract.operation
    const deadlineMs = runSeconds === undefined ? undefined : services.clock.monotonicMs() + runSeconds * 1_000
    this.#limits = { numEnvs, maxAttemptsPerTrial, launchesPerSecond, deadlineMs }
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
    const { pid, host } = this.#services.owner
    const { sandboxHourUsd } = this.#input
    await this.#input.ledger.append({ event: 'RUN_STARTED', timestamp: this.#timestamp(), pid, host, ...(sandboxHourUsd === undefined ? {} : { sandbox_hour_usd: sandboxHourUsd }) })
    const orphans = await this.#orphans.look()
    this.#onLook('start', orphans)
    for (const { identity, report } of await closeLeftovers(this.#input.ledger.state, this.#services, orphans)) await this.#closeAttempt(identity, report)
    await this.#writeAggregate()
    void this.#orphans.run()
  }

  async loop(): Promise<Partial<Record<NotRunReason, number>>> {
    for (;;) {
      await this.#askForProblems()
      const decision = this.#decide()
      if (decision.kind === 'done') return decision.notRun
      if (decision.kind === 'start') this.#launch(decision.trial, decision.attempt)
      else await this.#wait(decision)
    }
  }

  async close(notRun: Partial<Record<NotRunReason, number>>): Promise<CampaignResult> {
    this.#orphans.stop()
    if (this.#broken !== undefined) throw this.#broken
    const orphans = await this.#orphans.look()
    const reason = this.#endReason(notRun)
    const event = { event: 'RUN_ENDED' as const, timestamp: this.#timestamp(), reason }
    await this.#input.ledger.append({ ...event, ...(orphans === undefined ? {} : { orphans }), ...(Object.keys(notRun).length === 0 ? {} : { not_run: notRun }) })
    const result = await this.#keep(() => this.#writeAggregate())
    return { aggregate: result, orphans, reason }
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
      orphans: this.#orphans.remaining,
      creating: this.#attempts.creating,
      createFaults: this.#attempts.createFaults,
      modelPermits: services.modelPermits?.(),
      pauses: [...this.#problems, ...(this.#orphans.pause === undefined ? [] : [this.#orphans.pause])],
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

  /** At most once a second, since a decision is taken more often than the world changes. */
  async #askForProblems(): Promise<void> {
    const nowMs = this.#services.clock.monotonicMs()
    if (nowMs - this.#askedMs < problemsEveryMs) return
    this.#askedMs = nowMs
    const full: readonly Pause[] = this.#services.room?.isFull === true ? [{ reason: 'disk_full', message: 'The disk is full: writing goes on once there is room.' }] : []
    const asked = (await this.#services.problems?.()) ?? []
    this.#problems = [...full, ...asked.filter(({ reason }) => !full.some((pause) => pause.reason === reason))]
  }

  async #wait({ untilMs, pauses }: Extract<Decision, { kind: 'wait' }>): Promise<void> {
    this.#notePauses(pauses)
    const { clock } = this.#services
    const called = new AbortController()
    const nowMs = clock.monotonicMs()
    const bounds = [untilMs === undefined ? Infinity : untilMs - nowMs, pauses.length === 0 ? Infinity : problemsEveryMs]
    const time = Math.min(...bounds)
    const changed = this.#changed.next()
    try {
      await (time === Infinity ? changed : Promise.race([changed, clock.sleep(time, called.signal)]))
    } finally {
      called.abort()
    }
  }

  #notePauses(pauses: readonly Pause[]): void {
    const now = new Map(pauses.map((pause) => [pause.reason, pause]))
    for (const [reason, { message }] of now) {
      if (this.#paused.has(reason)) continue
      this.#services.onEvent({ type: 'run_paused', reason, message })
      void this.#record({ event: 'RUN_PAUSED', timestamp: this.#timestamp(), reason, message: message.slice(0, 2_000) })
    }
    for (const reason of this.#paused.keys()) {
      if (now.has(reason)) continue
      this.#services.onEvent({ type: 'run_continued', reason })
      void this.#record({ event: 'RUN_CONTINUED', timestamp: this.#timestamp(), reason })
    }
    this.#paused.clear()
    for (const [reason, pause] of now) this.#paused.set(reason, pause)
  }

  #onLook(when: 'start' | 'during', orphans: Orphans | undefined): void {
    this.#changed.notify()
    if (orphans === undefined || orphans.found === 0) return
    this.#services.onEvent({ type: 'orphans_killed', when, orphans })
    void this.#record({ event: 'ORPHANS_KILLED', timestamp: this.#timestamp(), when, orphans })
  }

  /** Claims the trial synchronously; everything after that is the attempt's own. */
  #launch(trial: TrialKey, attempt: number): void {
    this.#notePauses([])
    const { contract, ledger, attemptModelUsd } = this.#input
    const identity = { ...trial, attempt, attemptDir: `attempts/${trial.domain}/${trial.id}/${trial.trial}.${attempt}` }
    const nowMs = this.#services.clock.monotonicMs()
    this.#attempts.launch(identity, needOf(contract, ledger.totals(), attemptModelUsd), nowMs)
    void this.#run(identity)
  }

  async #run(identity: AttemptIdentity): Promise<void> {
    let report: AttemptReport | undefined
    try {
      await this.#input.ledger.append({ event: 'PLANNED', ...this.#eventKey(identity), attempt_dir: identity.attemptDir })
      this.#services.onEvent({ type: 'attempt_started', identity })
      report = withDiskFault(await this.#attempt(identity), this.#isDiskFull())
      await this.#closeAttempt(identity, report)
    } catch (error) {
      this.#broken ??= error instanceof Error ? error : new Error(String(error))
    }
    this.#attempts.end(identity, report ?? workerLost(this.#broken), this.#services.clock.monotonicMs())
    if (report !== undefined) this.#services.onEvent({ type: 'attempt_ended', identity, report })
    await this.#writeAggregate().catch((error: unknown) => this.#takeWriteFault(error))
    this.#changed.notify()
  }

  /** A fault of one attempt is its outcome; only the ledger's is everybody's. */
  async #attempt(identity: AttemptIdentity): Promise<AttemptReport> {
    try {
      return await this.#services.runAttempt(identity, {
        onStarted: ({ pid, start }) => this.#input.ledger.append({ event: 'STARTED', ...this.#eventKey(identity), pid, pid_start: start }),
        onPhase: (phase) => {
          this.#attempts.phase(identity, phase)
          this.#services.onEvent({ type: 'attempt_phase', identity, phase })
          this.#changed.notify()
        },
        onStep: (step) => this.#services.onEvent({ type: 'attempt_step', identity, step }),
        signal: this.#stop,
      })
    } catch (error) {
      if (error instanceof SchedulerError && error.code === 'run_unwritable') throw error
      return workerLost(error)
    }
  }

  async #closeAttempt(identity: AttemptIdentity, report: AttemptReport): Promise<void> {
    if (report.outcome.kind === 'invalid' && report.outcome.reason === 'identity_drift') this.#hasDrifted = true
    const { outcome, cleanup, seconds, steps, sandboxSeconds, model, catalogSha256 } = report
    await this.#input.ledger.append({
      event: 'TERMINAL',
      ...this.#eventKey(identity),
      outcome,
      cleanup,
      seconds,
      steps,
      ...(sandboxSeconds === undefined ? {} : { sandbox_seconds: sandboxSeconds }),
      ...(model === undefined ? {} : { model }),
      ...(catalogSha256 === undefined ? {} : { catalog_sha256: catalogSha256 }),
    })
  }

  #endReason(notRun: Partial<Record<NotRunReason, number>>): CampaignResult['reason'] {
    const [reason] = Object.keys(notRun) as NotRunReason[]
    if (reason !== undefined) return reason
    const { state } = this.#input.ledger
    const isComplete = this.#fold().complete
    return isComplete ? 'complete' : state.size > 0 && this.#stop.aborted ? 'interrupted' : 'incomplete'
  }

  #isDiskFull(): boolean {
    return this.#services.room?.isFull === true || this.#problems.some(({ reason }) => reason === 'disk_full')
  }

  /** The aggregate is a fold and is written again; a full disk delays it. */
  #takeWriteFault(error: unknown): void {
    if (!isDiskFull(error)) this.#broken ??= error instanceof Error ? error : new Error(String(error))
  }

  async #record(event: Parameters<CampaignInput['ledger']['append']>[0]): Promise<void> {
    try {
      await this.#input.ledger.append(event)
    } catch (error) {
      this.#broken ??= error instanceof Error ? error : new Error(String(error))
    }
  }

  #keep<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#services.room === undefined ? work() : this.#services.room.keep(work)
  }

  async #writeAggregate(): Promise<Aggregate> {
    const result = this.#fold()
    await this.#services.writeAggregate(result)
    return result
  }

  #fold(): Aggregate {
    const { runId, contract, ledger, labels } = this.#input
    const { tasks, trials } = contract.scoring
    return aggregate({ runId, tasks: tasks.map(({ domain, id }) => ({ domain, id })), trials, state: ledger.state, totals: ledger.totals(), updatedAt: this.#timestamp(), labels })
  }

  #eventKey({ domain, id, trial, attempt }: AttemptIdentity): Pick<AttemptEvent, 'domain' | 'task_id' | 'trial' | 'attempt' | 'timestamp'> {
    return { domain, task_id: id, trial, attempt, timestamp: this.#timestamp() }
  }

  #timestamp(): string {
    return this.#services.clock.now().toISOString()
  }
}
