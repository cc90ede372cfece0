import { setTimeout as pause } from 'node:timers/promises'
import type { Endpoint } from './endpoint.ts'
import type { EndpointFailure } from './endpoint-health.ts'
import type { GatewayTimings } from './gateway-options.ts'

export interface PoolOptions {
  readonly endpoints: readonly Endpoint[]
  readonly timings: GatewayTimings
  /** Status of a harmless question; null when there is no answer. */
  readonly probe: (endpoint: Endpoint, signal: AbortSignal) => Promise<number | null>
}

/** Knows which endpoint is to be asked, and probes those that are out until they are back. */
export class EndpointPool {
  readonly #options: PoolOptions
  readonly #probing = new Set<Endpoint>()
  readonly #closing = new AbortController()
  #opened = 0
  #listeners: (() => void)[] = []

  constructor(options: PoolOptions) {
    this.#options = options
  }

  /** The next one in rotation that may be asked, or the next one at all. */
  nextInRotation(): Endpoint {
    const order = this.#from(this.#opened)
    this.#opened += 1
    return order.find(isUp) ?? first(order)
  }

  /** Where the next try goes: home first, rather to one that has not failed in this call; undefined while all are out. */
  choose(home: Endpoint, failed: ReadonlySet<Endpoint>): Endpoint | undefined {
    const up = this.#from(this.#options.endpoints.indexOf(home)).filter(isUp)
    return up.find((endpoint) => !failed.has(endpoint)) ?? up[0]
  }

  succeeded(endpoint: Endpoint): void {
    const wasOut = !isUp(endpoint)
    endpoint.health.succeeded()
    if (wasOut) this.#tell()
  }

  failed(endpoint: Endpoint, failure: EndpointFailure): void {
    const wasUp = isUp(endpoint)
    endpoint.health.failed(failure)
    if (isUp(endpoint)) return
    if (wasUp) this.#tell()
    endpoint.permits.sendWaitingAway()
    if (!this.#probing.has(endpoint)) void this.#probeUntilUp(endpoint)
  }

  isHealthy(): boolean {
    return this.#options.endpoints.some(isUp)
  }

  /** Whether waiting may help while all are out. */
  mayPass(): boolean {
    return this.#options.endpoints.some(({ health }) => health.outage?.forGood !== true)
  }

  describe(): string {
    const out = this.#options.endpoints.filter((endpoint) => !isUp(endpoint))
    if (out.length === 0) return 'All model endpoints may be asked.'
    const others = this.#options.endpoints.length - out.length
    const rest = others === 0 ? 'no other may be asked' : `${others} other${others === 1 ? '' : 's'} may be asked`
    return `Out of use: ${out.map(describeOutage).join('; ')}; ${rest}.`
  }

  /** Resolves when an endpoint went out or came back, when the time is over, the signal aborts or the pool is closed. */
  changed(timeoutMs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true || this.#closing.signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', settle)
        this.#listeners = this.#listeners.filter((other) => other !== settle)
        resolve()
      }
      const timer = setTimeout(settle, timeoutMs)
      signal?.addEventListener('abort', settle)
      this.#listeners.push(settle)
    })
  }

  close(): void {
    this.#closing.abort()
    this.#tell()
  }

  #from(start: number): readonly Endpoint[] {
    const { endpoints } = this.#options
    const cut = start % endpoints.length
    return [...endpoints.slice(cut), ...endpoints.slice(0, cut)]
  }

  #tell(): void {
    for (const listener of this.#listeners.splice(0)) listener()
  }

  /** Never rejects: a probe that fails is the answer null, and the pause ends early only when the pool closes. */
  async #probeUntilUp(endpoint: Endpoint): Promise<void> {
    const { signal } = this.#closing
    this.#probing.add(endpoint)
    for (;;) {
      await pause(endpoint.health.coolDownMs(this.#options.timings), undefined, { signal, ref: false }).catch(() => undefined)
      if (signal.aborted || isUp(endpoint)) break
      endpoint.health.probed(await this.#options.probe(endpoint, signal))
      if (isUp(endpoint)) this.#tell()
    }
    this.#probing.delete(endpoint)
  }
}

function isUp({ health }: Endpoint): boolean {
  return health.outage === undefined
}

function describeOutage({ label, health }: Endpoint): string {
  const { outage } = health
  if (outage === undefined) return `${label} may be asked`
  if (outage.status === 401 || outage.status === 403) return `${label} refuses its key (${outage.text})`
  return `${label} failed ${outage.failures === 1 ? 'once' : `${outage.failures} times in a row`} (${outage.text})`
}

function first(order: readonly Endpoint[]): Endpoint {
  const [endpoint] = order
  if (endpoint === undefined) throw new RangeError('A pool has at least one endpoint.')
  return endpoint
}
