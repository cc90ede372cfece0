import { randomBytes } from 'node:crypto'
import type { ModelCall, ModelUsage } from '@osworld-e2b/contracts'
import type { Redactor } from '@osworld-e2b/redaction'
import { CallsFile } from './calls-file.ts'
import type { Endpoint } from './endpoint.ts'
import { maxCallsInFlight } from './gateway-options.ts'
import { ModelGatewayError } from './model-gateway-error.ts'
import { Permits } from './permits.ts'
import { UnrecoveredCalls } from './unrecovered-calls.ts'
import { addCall, noUsage } from './usage-sum.ts'

export interface AttemptOptions {
  readonly callsFile: string
  readonly home: Endpoint
  /** Knows the real keys; one for all attempts, since its tables are large. */
  readonly redactor: Redactor
}

/** One attempt's side of the gateway: its key, its calls, and what they came to. */
export class Attempt {
  readonly key = `osw-${randomBytes(24).toString('hex')}`
  readonly home: Endpoint
  readonly slots = new Permits(maxCallsInFlight)
  readonly unrecovered = new UnrecoveredCalls()
  readonly #redactor: Redactor
  readonly #file: CallsFile
  readonly #closing = new AbortController()
  readonly #swallowed = new AbortController()
  readonly #underWay = new Set<Promise<void>>()
  #usage = noUsage
  #arrived = 0
  #fault: ModelGatewayError | undefined
  #closed: Promise<void> | undefined

  constructor({ callsFile, home, redactor }: AttemptOptions) {
    this.home = home
    this.#redactor = redactor
    this.#file = new CallsFile(callsFile)
  }

  get closing(): AbortSignal {
    return this.#closing.signal
  }

  get swallowed(): AbortSignal {
    return this.#swallowed.signal
  }

  usage(): ModelUsage {
    return this.#usage
  }

  nextNumber(): number {
    this.#arrived += 1
    return this.#arrived
  }

  /** Without the real keys and the attempt's own. */
  redact(text: string): string {
    return this.#redactor.redactText(text.replaceAll(this.key, '[secret attempt model key]'))
  }

  /** Runs one call to its end, which `close` waits for. A fault of the gateway itself ends the attempt rather than going unseen. */
  run(serve: () => Promise<void>): void {
    const served = serve()
      .catch((error: unknown) => {
        this.#fault ??= new ModelGatewayError('model_unavailable', 'The model gateway could not serve a call; the cause is kept with this error.', error)
        this.end(this.#fault)
      })
      .finally(() => this.#underWay.delete(served))
    this.#underWay.add(served)
  }

  record(call: ModelCall): void {
    this.#usage = addCall(this.#usage, call)
    this.#file.add(call)
  }

  /** Tells the coordinator that no result of this attempt can count. */
  end(reason: ModelGatewayError): void {
    if (!this.#swallowed.signal.aborted) this.#swallowed.abort(reason)
  }

  async close(): Promise<{ usage: ModelUsage; failure: string | undefined }> {
    this.#closing.abort()
    this.#closed ??= this.#settle()
    await this.#closed
    return { usage: this.#usage, failure: this.#fault?.message ?? this.unrecovered.failure() }
  }

  async #settle(): Promise<void> {
    await Promise.all(this.#underWay)
    await this.#file.close()
  }
}
