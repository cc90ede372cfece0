import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CallOutcome, ModelCall, PriceTable, TokenCounts } from '@osworld-e2b/contracts'
import type { Attempt } from './attempt.ts'
import { costUsd } from './cost.ts'
import type { Mask } from './mask.ts'
import { parseJson, type AskedFor } from './request-body.ts'
import type { Desk, TriesSoFar } from './try-call.ts'
import type { Route } from './wire.ts'

/** What all calls are served with. */
export interface Counter {
  readonly desk: Desk
  readonly prices: PriceTable
  readonly keepContent: boolean
  /** For answers: the real keys. */
  readonly keyMask: Mask
  /** For errors: the endpoints' hosts as well. */
  readonly errorMask: Mask
}

export interface Visit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly route: Route
}

/** How a call ended; what is absent is unknown. */
export interface CallEnd {
  readonly outcome: CallOutcome
  readonly status: number | null
  readonly tokens?: TokenCounts | null
  /** Text of the answer, kept only when the run asks for it. */
  readonly content?: string
}

/** One call of an attempt from its arrival to its record. */
export class CallInProgress {
  readonly counter: Counter
  readonly attempt: Attempt
  readonly visit: Visit
  /** Aborts when the agent leaves or its attempt is closed. */
  readonly signal: AbortSignal
  readonly soFar: TriesSoFar = { tries: 0, endpoint: undefined, failure: undefined, mayBeBilled: false, wasBilledBefore: false }
  /** Undefined for what neither goes on nor is missed, such as a question for the list of models. */
  fingerprint: string | undefined
  asked: AskedFor | undefined
  readonly #number: number
  readonly #startedAt = new Date()
  readonly #startMs = performance.now()
  #firstByteSeconds: number | undefined

  constructor(counter: Counter, attempt: Attempt, visit: Visit) {
    this.counter = counter
    this.attempt = attempt
    this.visit = visit
    this.#number = attempt.nextNumber()
    const left = new AbortController()
    visit.response.once('close', () => {
      if (!visit.response.writableFinished) left.abort()
    })
    this.signal = AbortSignal.any([left.signal, attempt.closing])
  }

  noteFirstByte(): void {
    this.#firstByteSeconds = this.#seconds()
  }

  /** Records the call before the agent can have its whole answer, so that its next call is judged by it. */
  end(end: CallEnd): void {
    this.#remember(end.outcome)
    this.attempt.record(this.#line(end))
  }

  /** Beginning of a sentence. */
  failureText(how = 'for good'): string {
    const { tries, endpoint, failure } = this.soFar
    if (endpoint === undefined) return 'No model endpoint could be asked for a call'
    return `The model endpoint ${endpoint.label} failed a call ${how} (${failure ?? 'no answer'}; ${tries === 1 ? '1 try' : `${tries} tries`})`
  }

  #remember(outcome: CallOutcome): void {
    const { fingerprint } = this
    const { unrecovered } = this.attempt
    if (fingerprint === undefined || outcome === 'refused') return
    if (outcome === 'failed') unrecovered.failed(fingerprint, this.failureText())
    else if (outcome === 'abandoned') this.#rememberLeaving(fingerprint)
    else unrecovered.answered(fingerprint)
  }

  /** An agent that leaves in the middle of an answer, or soon, does so by itself; one that leaves after a failure had no choice. */
  #rememberLeaving(fingerprint: string): void {
    const { unrecovered } = this.attempt
    const text = this.failureText('until the agent gave it up')
    if (this.#firstByteSeconds !== undefined) unrecovered.abandoned(fingerprint, undefined)
    else if (this.soFar.failure !== undefined) unrecovered.failed(fingerprint, text)
    else unrecovered.abandoned(fingerprint, performance.now() - this.#startMs >= this.counter.desk.timings.silenceMs ? text : undefined)
  }

  #line({ outcome, status, tokens = null, content }: CallEnd): ModelCall {
    const { counter, visit, asked, soFar } = this
    const model = asked?.model ?? null
    return {
      call: this.#number,
      started_at: this.#startedAt.toISOString(),
      seconds: this.#seconds(),
      ...(this.#firstByteSeconds === undefined ? {} : { first_byte_seconds: this.#firstByteSeconds }),
      api: visit.route.api,
      model,
      endpoint: soFar.endpoint?.label ?? null,
      tries: soFar.tries,
      outcome,
      status: this.signal.aborted ? null : status,
      ...(soFar.failure === undefined ? {} : { error: soFar.failure }),
      stream: asked?.stream ?? false,
      tokens,
      cost_usd: this.#costUsd(model, tokens),
      ...(counter.keepContent ? { content: { request: this.#readable(asked?.body.toString()), response: this.#readable(content) } } : {}),
    }
  }

  /** A question for the list of models, and a call that no service took, cost nothing; else what is not known stays unknown. */
  #costUsd(model: string | null, tokens: TokenCounts | null): number | null {
    if (this.fingerprint === undefined || !this.soFar.mayBeBilled) return 0
    return this.soFar.wasBilledBefore ? null : costUsd(this.counter.prices, model, tokens)
  }

  /** Redacted, and as JSON where it is some; null when there is nothing. */
  #readable(text: string | undefined): unknown {
    if (text === undefined || text === '') return null
    const redacted = this.attempt.redact(text)
    return parseJson(redacted) ?? redacted
  }

  #seconds(): number {
    return Math.round(performance.now() - this.#startMs) / 1_000
  }
}
