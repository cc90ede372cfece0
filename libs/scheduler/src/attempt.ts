import type { AttemptMessage, Cause, Phase } from '@osworld-e2b/contracts'
import type { Redactor } from '@osworld-e2b/redaction'
import type { AttemptPlan, AttemptServices } from './attempt-plan.ts'
import { type Child, startChild } from './child-process.ts'
import { type ControlServer, openControlServer } from './control-server.ts'
import { within } from './deadline.ts'
import { type AttemptEnd, endUntied, proveEnd } from './attempt-end.ts'
import type { AttemptHooks, AttemptReport } from './attempt-report.ts'
import type { ClosedModel, ModelSession } from './model-session.ts'
import { defaultFolderLimitBytes, watchFolder } from './folder-quota.ts'
import { PhaseTimer } from './phase-timer.ts'
import { namespaceInit, type ProcessIdentity, processStart } from './process-identity.ts'
import { type RelayProcess, startRelayProcess } from './relay-process.ts'
import { asError } from './scheduler-error.ts'
import { Verdict } from './verdict.ts'

/** How long the parts of a stop may take before they are forced. */
const relayStartMs = 15_000
const hangUpMs = 2_000
const relayStopMs = 20_000
const folderEveryMs = 5_000
/** An attempt that was told of a loss ends by itself within a second. */
const lossMs = 5_000

/**
 * Runs one attempt from its first process to the proof that nothing of it is left. What goes wrong in it is its outcome;
 * it throws only when `onStarted` does, after everything was ended.
 */
export async function runAttempt(plan: AttemptPlan, services: AttemptServices, hooks: AttemptHooks): Promise<AttemptReport> {
  const startedMs = services.monotonicMs()
  const session = new AttemptSession(plan, services, hooks)
  let end: SessionEnd | undefined
  try {
    await session.run()
  } finally {
    end = await session.end()
  }
  const { cleanup, model, sandboxSeconds } = end
  if (model?.failure !== undefined) session.verdict.overrule({ reason: 'model_unavailable', phase: 'agent', message: model.failure })
  const outcome = session.verdict.outcome({ ...end, exit: session.exitText })
  return {
    outcome,
    cleanup,
    seconds: (services.monotonicMs() - startedMs) / 1000,
    steps: session.steps,
    ...(sandboxSeconds === undefined ? {} : { sandboxSeconds }),
    ...(model === undefined ? {} : { model: model.usage }),
  }
}

type SessionEnd = AttemptEnd & { readonly model: ClosedModel | undefined; readonly sandboxSeconds: number | undefined }

class AttemptSession {
  readonly verdict = new Verdict()
  steps = 0
  exitText = 'it was never started'
  #phase: Phase = 'import'
  #relay: RelayProcess | undefined
  #control: ControlServer | undefined
  #child: Child | undefined
  #model: ModelSession | undefined
  /** When a sandbox was first asked for. */
  #sandboxSinceMs: number | undefined
  readonly #phaseTimer: PhaseTimer
  readonly #ended = new AbortController()
  #namespaceInit: Promise<ProcessIdentity | undefined> = Promise.resolve(undefined)
  readonly #plan: AttemptPlan
  readonly #services: AttemptServices
  readonly #hooks: AttemptHooks

  constructor(plan: AttemptPlan, services: AttemptServices, hooks: AttemptHooks) {
    this.#plan = plan
    this.#services = services
    this.#hooks = hooks
    this.#phaseTimer = new PhaseTimer(plan.phaseTimeoutsMs ?? {}, (phase, seconds) => this.#stop({ reason: 'timeout', message: `The phase ${phase} took longer than ${seconds} s.` }))
  }

  async run(): Promise<void> {
    const child = await this.#start()
    if (child === undefined) return
    await this.#hooks.onStarted({ pid: child.pid, start: (await processStart(child.pid)) ?? 'gone' })
    await this.#untilEnded(child)
  }

  /** Ends what is left, in the reverse order of acquiring, and proves it. */
  async end(): Promise<SessionEnd> {
    await this.#endChild()
    await this.#endUntied()
    this.#phaseTimer.stop()
    this.#ended.abort()
    const model = await this.#closeModel()
    const relay = this.#relay
    const relayCleanup = relay === undefined ? 'none' : await relay.close(relayStopMs)
    await this.#control?.close()
    const end = await proveEnd({
      relayCleanup,
      namespaceInit: await this.#namespaceInit,
      killSandboxes: () => this.#services.killSandboxes(this.#plan.relayConfigure.metadata),
    })
    // What nobody says was not made is paid for.
    const sinceMs = relayCleanup === 'none' ? undefined : this.#sandboxSinceMs
    return { ...end, model, sandboxSeconds: sinceMs === undefined ? undefined : (this.#services.monotonicMs() - sinceMs) / 1000 }
  }

  async #start(): Promise<Child | undefined> {
    const { attempt_dir: folder } = this.#plan.config
    try {
      this.#relay = await startRelayProcess({
        command: this.#services.relayCommand,
        configure: this.#plan.relayConfigure,
        stderrFile: `${folder}/relay.stderr.log`,
        ...this.#redaction(),
        startDeadlineMs: relayStartMs,
      })
      this.#control = await openControlServer(this.#services.temporaryFolder, {
        onMessage: (message) => this.#take(message),
        onBadLine: (problem) => this.#stop({ reason: 'runner_exit', message: `The attempt wrote ${problem} to its control socket.` }),
      })
      this.#model = this.#services.openModel?.(this.#plan.config)
      const command = this.#services.attemptCommand(this.#plan.config, this.#control.path, this.#model?.environment ?? {})
      this.#child = await startChild(command, { stdoutFile: `${folder}/stdout.log`, stderrFile: `${folder}/stderr.log`, ...this.#redaction() })
    } catch (error) {
      this.verdict.fail({ reason: this.#relay === undefined ? 'relay_failed' : 'runner_exit', message: asError(error).message })
      return undefined
    }
    this.#child.stdin.end()
    this.#namespaceInit = namespaceInit(this.#child.pid)
    void this.#watchFolder()
    return this.#child
  }

  async #untilEnded(child: Child): Promise<void> {
    const { signal } = this.#hooks
    const interrupt = () => this.#stop({ reason: 'interrupted', message: interruptionText(signal) })
    const timer = setTimeout(() => {
      this.#stop({ reason: 'timeout', message: `The attempt took longer than ${this.#plan.timeoutMs / 1000} s.` })
    }, this.#plan.timeoutMs)
    if (signal.aborted) interrupt()
    signal.addEventListener('abort', interrupt, { once: true })
    void this.#relay?.lost.then((loss) => {
      this.#fail(loss)
      this.#control?.send({ type: 'lost', ...loss })
      void this.#endChild(lossMs)
    })
    this.#model?.swallowed.addEventListener('abort', () => this.#stop({ reason: 'model_unavailable', message: reasonText(this.#model?.swallowed) }), { once: true })
    const exit = await child.exited
    await this.#endUntied()
    await this.#control?.drained()
    clearTimeout(timer)
    signal.removeEventListener('abort', interrupt)
    this.exitText = `exit code ${exit.exitCode ?? 'none'}, signal ${exit.signal ?? 'none'}`
  }

  /** An attempt that fills its folder would take the disk from all others. */
  async #watchFolder(): Promise<void> {
    const { folderLimitBytes = defaultFolderLimitBytes } = this.#services
    await watchFolder({
      folder: this.#plan.config.attempt_dir,
      limitBytes: folderLimitBytes,
      everyMs: folderEveryMs,
      signal: this.#ended.signal,
      rootPid: (await this.#namespaceInit)?.pid,
      onExceeded: () => this.#stop({ reason: 'runner_exit', message: `The attempt's folder holds more than ${folderLimitBytes / 2 ** 30} GiB; nothing that it wrote was taken away.` }),
    })
  }

  #redaction(): { readonly redactor?: Redactor } {
    const { redactor } = this.#services
    return redactor === undefined ? {} : { redactor }
  }

  /** Calls that could not be written down are evidence that is missing. */
  async #closeModel(): Promise<ClosedModel | undefined> {
    try {
      return await this.#model?.close()
    } catch (error) {
      this.verdict.overrule({ reason: 'worker_lost', message: asError(error).message })
      return undefined
    }
  }

  #stop(cause: Omit<Cause, 'phase'>): void {
    this.#fail(cause)
    void this.#endChild()
  }

  /** Wait, ask (hang up), wait, force. */
  async #endChild(graceMs = 0): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    if (graceMs > 0 && (await within(graceMs, child.exited)) !== undefined) return
    this.#control?.hangUp()
    if ((await within(hangUpMs, child.exited)) === undefined) child.kill()
    await child.exited
  }

  /** Only a first process that was ended by force may have left anything. */
  async #endUntied(): Promise<void> {
    const exit = await this.#child?.exited
    if (exit?.signal !== undefined && this.#control !== undefined) await endUntied(this.#control.path)
  }

  #fail(cause: Omit<Cause, 'phase'>): void {
    this.verdict.fail({ ...cause, phase: this.#phase })
  }

  #take(message: AttemptMessage): void {
    switch (message.type) {
      case 'phase':
        this.#phase = message.phase
        this.#phaseTimer.enter(message.phase)
        return this.#hooks.onPhase(message.phase)
      case 'step':
        this.steps = message.step
        return this.#hooks.onStep(message.step)
      case 'request':
        return void this.#answer(message.id, message.method)
      case 'finished':
        return this.#finish(message)
    }
  }

  #finish(message: Extract<AttemptMessage, { type: 'finished' }>): void {
    if (message.outcome === 'invalid') {
      const { reason, phase, message: reasonText } = message
      this.verdict.fail({ reason, message: reasonText, ...(phase === undefined ? {} : { phase }) })
    } else if (message.adjustments_digest !== this.#plan.adjustmentsSha256) {
      const { adjustmentsSha256: expected } = this.#plan
      this.#fail({ reason: 'identity_drift', message: `The attempt applied adjustments ${message.adjustments_digest}, the run was made with ${expected}.` })
    } else this.verdict.score(message.reward)
  }

  async #answer(id: number, method: 'start' | 'reset' | 'stop'): Promise<void> {
    const relay = this.#relay
    if (relay === undefined) return
    if (method !== 'stop') this.#sandboxSinceMs ??= this.#services.monotonicMs()
    const reply = await relay.request(method)
    if (reply.ok) this.#control?.send({ type: 'reply', id, ok: true, ...(method === 'stop' ? {} : { ports: relay.ports }) })
    else this.#control?.send({ type: 'reply', id, ok: false, error: reply.error })
  }
}

function reasonText(signal: AbortSignal | undefined): string {
  return signal?.reason instanceof Error ? signal.reason.message : "The agent's model could not be asked."
}

function interruptionText(signal: AbortSignal): string {
  return signal.reason instanceof Error && signal.reason.name !== 'AbortError' ? signal.reason.message : 'The run was stopped.'
}
