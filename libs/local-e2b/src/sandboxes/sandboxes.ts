import type { SandboxDriver } from '../driver.ts'
import { LocalE2bError, describeError } from '../error.ts'
import type { Clock } from '../server/clock.ts'
import type { Log } from '../server/log.ts'
import type { ReadyImage } from '../store/template-store.ts'
import { newSandboxId, newToken } from './ids.ts'
import { openExchanges, type Sandbox, type SandboxNetwork } from './sandbox.ts'
import { launchStartCommand } from './start-command.ts'

export interface SandboxLimits {
  readonly maxConcurrentSandboxes: number
  /** Longest life of a sandbox since its start. */
  readonly maxSandboxLifeMs: number
}

export interface SandboxesOptions {
  readonly driver: SandboxDriver
  readonly clock: Clock
  readonly log: Log
  readonly limits: SandboxLimits
  /** Absolute path of a layer that templates.json names relative to the data folder. */
  readonly layerPath: (layer: string) => string
}

export interface NewSandbox {
  readonly image: ReadyImage
  readonly timeoutMs: number
  readonly metadata: Readonly<Record<string, string>>
  readonly environment: Readonly<Record<string, string>>
  readonly network: SandboxNetwork
}

export interface Sandboxes {
  /** Answers once the guest agent does; throws `too_many`, `bad_request` or `start_failed`. */
  create(request: NewSandbox): Promise<Sandbox>
  /** Any that is not known to be gone, so also one whose end is under way or failed. */
  find(id: string): Sandbox | undefined
  /** As `find`; throws `not_found`. */
  get(id: string): Sandbox
  /** One that may be used; throws `not_found` for one that is ending too. */
  running(id: string): Sandbox
  list(): readonly Sandbox[]
  /** Sets the end to `timeoutMs` from now, sooner or later than it was. */
  setTimeout(sandbox: Sandbox, timeoutMs: number): void
  /** As `setTimeout`, but never shortens. */
  extend(sandbox: Sandbox, timeoutMs: number): void
  /** Cuts the open streams, then ends the processes and removes the folder; joins an end that is under way, tries again after one that failed. */
  kill(sandbox: Sandbox): Promise<void>
  /** Kills all; starts no more from the call on. */
  close(): Promise<void>
  isClosing(): boolean
}

export function openSandboxes(options: SandboxesOptions): Sandboxes {
  const { clock, driver, limits, log } = options
  const known = new Map<string, Sandbox>()
  const ends = new Map<string, Promise<void>>()
  const timers = new Map<string, () => void>()
  const work = new Set<Promise<unknown>>()
  let sequence = 0
  let starting = 0
  let isClosing = false

  const end = (sandbox: Sandbox, cause: string): Promise<void> => {
    const underWay = ends.get(sandbox.id)
    if (underWay !== undefined) return underWay
    if (known.get(sandbox.id) !== sandbox) return Promise.resolve()
    sandbox.isEnding = true
    timers.get(sandbox.id)?.()
    timers.delete(sandbox.id)
    sandbox.exchanges.cutAll()
    log.info({ sandbox: sandbox.id, cause }, 'sandbox ends')
    const ended = track(work, destroy(sandbox))
    ends.set(sandbox.id, ended)
    const settle = (): void => void ends.delete(sandbox.id)
    ended.then(settle, settle)
    return ended
  }
  /** A sandbox that could not be removed stays known: nobody may be told that it is gone. */
  const destroy = async (sandbox: Sandbox): Promise<void> => {
    try {
      await sandbox.running.destroy()
      known.delete(sandbox.id)
    } catch (error) {
      log.error({ sandbox: sandbox.id, reason: describeError(error) }, 'sandbox could not be removed')
      throw error
    }
  }
  const endInBackground = (sandbox: Sandbox, cause: string): void => {
    end(sandbox, cause).catch((error: unknown) => log.error({ sandbox: sandbox.id, reason: describeError(error) }, 'ending failed'))
  }
  const arm = (sandbox: Sandbox): void => {
    timers.get(sandbox.id)?.()
    timers.set(sandbox.id, clock.after(sandbox.endAtMs - clock.now(), () => endInBackground(sandbox, 'timeout')))
  }
  const admit = (request: NewSandbox): void => {
    if (isClosing) throw new LocalE2bError('closing', 'The server is closing and starts no more sandboxes.')
    checkLife(request.timeoutMs, limits)
    if (known.size + starting < limits.maxConcurrentSandboxes) return
    throw new LocalE2bError(
      'too_many',
      `You have reached the maximum number of concurrent sandboxes (${limits.maxConcurrentSandboxes}): kill one, or start the server with a higher limit.`,
    )
  }
  const start = async (request: NewSandbox): Promise<Sandbox> => {
    const id = newSandboxId()
    const { image } = request.image
    const running = await driver.start({
      id,
      layers: image.layers.map(options.layerPath),
      defaults: { user: image.user, workdir: image.workdir, environment: { ...image.environment, ...request.environment } },
      network: 'loopback',
      hostname: request.image.template.name.slice(0, 63),
    })
    const startedAtMs = clock.now()
    return {
      id,
      templateId: request.image.template.template_id,
      templateName: request.image.template.name,
      buildId: request.image.buildId,
      metadata: request.metadata,
      cpuCount: request.image.cpuCount,
      memoryMb: request.image.memoryMb,
      startedAtMs,
      sequence: sequence++,
      envdToken: newToken(),
      trafficToken: newToken(),
      running,
      exchanges: openExchanges(),
      endAtMs: startedAtMs + request.timeoutMs,
      network: request.network,
      isEnding: false,
    }
  }
  const create = async (request: NewSandbox): Promise<Sandbox> => {
    const sandbox = await start(request)
    known.set(sandbox.id, sandbox)
    if (isClosing) {
      await end(sandbox, 'server closes')
      throw new LocalE2bError('closing', 'The server closed while the sandbox started.')
    }
    arm(sandbox)
    void sandbox.running.exited.then(() => endInBackground(sandbox, 'its processes ended'))
    const command = request.image.image.start_command
    if (command !== null) launchStartCommand(sandbox, command, log)
    log.info({ sandbox: sandbox.id, template: sandbox.templateName, build: sandbox.buildId }, 'sandbox started')
    return sandbox
  }
  return {
    async create(request) {
      admit(request)
      starting += 1
      try {
        return await track(work, create(request))
      } catch (error) {
        if (error instanceof LocalE2bError) throw error
        throw new LocalE2bError('start_failed', `Failed to place sandbox: ${describeError(error)}`, { cause: error })
      } finally {
        starting -= 1
      }
    },
    find: (id) => known.get(id),
    get: (id) => known.get(id) ?? missing(id),
    running(id) {
      const sandbox = known.get(id)
      return sandbox === undefined || sandbox.isEnding ? missing(id) : sandbox
    },
    list: () => [...known.values()],
    setTimeout(sandbox, timeoutMs) {
      const endAtMs = clock.now() + timeoutMs
      checkLife(endAtMs - sandbox.startedAtMs, limits)
      sandbox.endAtMs = endAtMs
      arm(sandbox)
    },
    extend(sandbox, timeoutMs) {
      if (clock.now() + timeoutMs > sandbox.endAtMs) this.setTimeout(sandbox, timeoutMs)
    },
    kill: (sandbox) => end(sandbox, 'killed'),
    async close() {
      isClosing = true
      for (const sandbox of known.values()) endInBackground(sandbox, 'server closes')
      while (work.size > 0) await Promise.allSettled(work)
    },
    isClosing: () => isClosing,
  }
}

function checkLife(lifeMs: number, limits: SandboxLimits): void {
  if (lifeMs <= limits.maxSandboxLifeMs) return
  throw new LocalE2bError('bad_request', `Max instance length exceeded: a sandbox may live ${limits.maxSandboxLifeMs / 1000} s since its start.`)
}

function track<Result>(work: Set<Promise<unknown>>, promise: Promise<Result>): Promise<Result> {
  work.add(promise)
  const leave = (): void => void work.delete(promise)
  promise.then(leave, leave)
  return promise
}

function missing(id: string): never {
  throw new LocalE2bError('not_found', `Sandbox ${id} not found`)
}
