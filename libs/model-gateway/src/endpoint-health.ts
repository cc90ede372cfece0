import type { GatewayTimings } from './gateway-options.ts'
import { isRevived } from './judge-answer.ts'

export interface EndpointFailure {
  /** Null for a network fault. */
  readonly status: number | null
  /** Such as "status 502"; holds no address and no key. */
  readonly text: string
  /** The operator's to mend, so that waiting does not help. */
  readonly forGood: boolean
}

export interface Outage extends EndpointFailure {
  readonly failures: number
}

/** Whether one endpoint may be asked: a fold of what its tries and probes came to. */
export class EndpointHealth {
  readonly #failuresUntilOut: number
  #failures = 0
  #setbacks = 0
  outage: Outage | undefined

  constructor(failuresUntilOut: number) {
    this.#failuresUntilOut = failuresUntilOut
  }

  succeeded(): void {
    this.#failures = 0
    this.#setbacks = 0
    this.outage = undefined
  }

  failed(failure: EndpointFailure): void {
    this.#failures += 1
    if (this.outage === undefined && !failure.forGood && this.#failures < this.#failuresUntilOut) return
    this.outage = { ...failure, failures: this.#failures }
  }

  /** Takes a probe's status, null when there was no answer. After a revival a single failure is enough to go out again. */
  probed(status: number | null): void {
    if (this.outage === undefined) return
    this.#setbacks += 1
    if (status === null || !isRevived(status, this.outage.status)) return
    this.outage = undefined
    this.#failures = this.#failuresUntilOut - 1
  }

  /** Pause before the next probe; doubles until a real call succeeds. */
  coolDownMs({ coolDownMs, longestCoolDownMs }: GatewayTimings): number {
    return Math.min(coolDownMs * 2 ** this.#setbacks, longestCoolDownMs)
  }
}
