import type { Cleanup, RelayConfigure } from '@osworld-e2b/contracts'
import type { Relay } from '@osworld-e2b/relay'
import { LeaseError, waitForDesktop, type SandboxLease, type Sandboxes } from '@osworld-e2b/sandbox'
import { AttemptSandboxError, reasonOf } from './attempt-sandbox-error.ts'
import type { RecordEvent } from './events-file.ts'

const serverPort = 5000

export interface Started {
  readonly sandboxId: string
  readonly generation: number
}

export interface AttemptSandboxOptions {
  readonly configure: RelayConfigure
  readonly sandboxes: Sandboxes
  readonly relay: Relay
  readonly record: RecordEvent
  /** Told once when the sandbox in use is gone without our doing. */
  readonly onLost: (message: string) => void
}

/** One attempt's sandbox with its relay: at most one in use, and none forgotten until it is known to be gone. */
export class AttemptSandbox {
  readonly #options: AttemptSandboxOptions
  /** Every sandbox that is not known to be gone; a sandbox is entered before anything else is done with it. */
  readonly #held = new Map<SandboxLease, number>()
  #current: { readonly lease: SandboxLease; readonly generation: number } | undefined
  /** Counts tries, so that each has a number of its own in metadata and events. */
  #generation = 0
  #made = 0
  #lost: LeaseError | undefined
  #launch = new AbortController()
  #closed = false

  constructor(options: AttemptSandboxOptions) {
    this.#options = options
  }

  /** Gives the sandbox in use, or makes one; upstream asks again after each reset. */
  async start(): Promise<Started> {
    this.#refuseIfOver()
    const { lease, generation } = this.#current ?? (await this.#launchSandbox())
    return { sandboxId: lease.id, generation }
  }

  /** Ends the sandbox in use, and makes a fresh one once it is known to be gone. */
  async reset(): Promise<Started> {
    this.#refuseIfOver()
    if ((await this.stop()) === 'failed') throw new AttemptSandboxError('cleanup_failed', 'The sandbox in use could not be ended, so no fresh one was made.')
    return this.start()
  }

  /** Ends every sandbox that is still held; `none` when there was none. */
  async stop(): Promise<Cleanup> {
    this.#options.relay.setTarget(undefined)
    this.#current = undefined
    if (this.#held.size === 0) return 'none'
    await Promise.all([...this.#held.keys()].map((lease) => this.#cleanUp(lease)))
    return this.#held.size === 0 ? 'success' : 'failed'
  }

  /** Calls off a launch that is under way; its request fails as interrupted, after its sandbox is ended. */
  interrupt(): void {
    this.#launch.abort(new AttemptSandboxError('interrupted', 'A stop was asked for before the desktop was ready.'))
  }

  /** Refuses every launch from now on. */
  close(): void {
    this.#closed = true
    this.interrupt()
  }

  /** Sandboxes that were really created, whatever became of them. */
  get sandboxesMade(): number {
    return this.#made
  }

  /** Something on the way to the sandbox failed: asks at once whether it still lives, without waiting for its heartbeat. */
  suspect(): void {
    void this.#current?.lease.verify()
  }

  #refuseIfOver(): void {
    if (this.#closed) throw new AttemptSandboxError('interrupted', 'The relay is stopping.')
    if (this.#lost !== undefined) throw this.#lost
  }

  async #launchSandbox(): Promise<{ readonly lease: SandboxLease; readonly generation: number }> {
    const { record, relay } = this.#options
    this.#launch = new AbortController()
    const generation = ++this.#generation
    const startedAt = performance.now()
    try {
      const lease = await this.#createSandbox(generation, startedAt)
      relay.setTarget(lease)
      this.#current = { lease, generation }
      lease.lost.addEventListener('abort', () => this.#onLost(lease, generation), { once: true })
      record({ event: 'SANDBOX_READY', generation, sandbox_id: lease.id, seconds: secondsSince(startedAt) })
      return this.#current
    } catch (error) {
      record({ event: 'SANDBOX_START_FAILED', generation, seconds: secondsSince(startedAt), message: reasonOf(error).message })
      throw error
    }
  }

  async #createSandbox(generation: number, startedAt: number): Promise<SandboxLease> {
    const { configure, sandboxes, record } = this.#options
    const { signal } = this.#launch
    record({ event: 'SANDBOX_CREATE_STARTED', generation })
    const lease = await sandboxes.create({
      template: configure.template,
      metadata: { ...configure.metadata, generation: String(generation) },
      timeoutSeconds: configure.sandbox_timeout_seconds,
      signal,
      onTrouble: (message) => record({ event: 'SANDBOX_TROUBLE', generation, message }),
    })
    this.#held.set(lease, generation)
    this.#made++
    record({ event: 'SANDBOX_CREATED', generation, sandbox_id: lease.id, seconds: secondsSince(startedAt) })
    try {
      await waitForDesktop(lease.endpoint(serverPort), {
        deadlineMs: configure.ready_deadline_seconds * 1_000,
        signal: AbortSignal.any([signal, lease.lost]),
        isAlive: () => lease.verify(),
        screen: configure.screen,
      })
      signal.throwIfAborted()
      lease.lost.throwIfAborted()
      return lease
    } catch (error) {
      await this.#cleanUp(lease)
      throw error
    }
  }

  #onLost(lease: SandboxLease, generation: number): void {
    const { relay, record, onLost } = this.#options
    if (this.#current?.lease !== lease) return
    this.#lost = lossOf(lease)
    relay.setTarget(undefined)
    const { message } = this.#lost
    record({ event: 'SANDBOX_LOST', generation, sandbox_id: lease.id, message })
    onLost(message)
  }

  async #cleanUp(lease: SandboxLease): Promise<void> {
    const generation = this.#held.get(lease) ?? this.#generation
    const startedAt = performance.now()
    const result = await lease.kill()
    if (result === 'success') this.#held.delete(lease)
    const event = result === 'success' ? 'SANDBOX_CLEANED' : 'SANDBOX_CLEANUP_FAILED'
    this.#options.record({ event, generation, sandbox_id: lease.id, seconds: secondsSince(startedAt) })
  }
}

function lossOf(lease: SandboxLease): LeaseError {
  const reason: unknown = lease.lost.reason
  return reason instanceof LeaseError ? reason : new LeaseError('guest_lost', `Sandbox ${lease.id} is gone.`, reason)
}

function secondsSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt) / 1_000
}
