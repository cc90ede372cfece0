import { ModelGatewayError } from './model-gateway-error.ts'

/**
 * Remembers which calls of one attempt failed and were not repeated with success. A call that differs while one is open shows that the agent
 * went on without its answer. Calls are told apart by a fingerprint of path and body.
 */
export class UnrecoveredCalls {
  readonly #failed = new Map<string, string>()
  /** Given up by the agent after a long silence; no failure unless the agent goes on, since its attempt may have ended with it. */
  readonly #givenUp = new Map<string, string>()
  readonly #underWay = new Map<string, number>()
  #final: ModelGatewayError | undefined

  /** Gives the error with which the attempt ends when this call shows that another was swallowed. */
  arrived(fingerprint: string): ModelGatewayError | undefined {
    const isRepetition = this.#failed.has(fingerprint) || this.#givenUp.has(fingerprint)
    const [swallowed] = [...this.#failed, ...this.#givenUp].filter(([other]) => !this.#underWay.has(other))
    this.#underWay.set(fingerprint, (this.#underWay.get(fingerprint) ?? 0) + 1)
    if (swallowed === undefined || isRepetition) return undefined
    this.#final ??= new ModelGatewayError('model_unavailable', `${swallowed[1]}, and the agent went on without its answer.`)
    return this.#final
  }

  answered(fingerprint: string): void {
    this.#leave(fingerprint)
    this.#failed.delete(fingerprint)
    this.#givenUp.delete(fingerprint)
  }

  /** `text` is the beginning of a sentence. */
  failed(fingerprint: string, text: string): void {
    this.#leave(fingerprint)
    this.#failed.set(fingerprint, text)
  }

  refused(fingerprint: string, error: ModelGatewayError): void {
    this.#leave(fingerprint)
    this.#final ??= error
  }

  /** Given up by the agent, or ended with it; `text` when there had long been silence. */
  abandoned(fingerprint: string, text: string | undefined): void {
    this.#leave(fingerprint)
    if (text !== undefined) this.#givenUp.set(fingerprint, text)
  }

  /** One sentence about the first call that is unrecovered. */
  failure(): string | undefined {
    if (this.#final !== undefined) return this.#final.message
    const [text] = this.#failed.values()
    return text === undefined ? undefined : `${text}, and no repetition was answered.`
  }

  #leave(fingerprint: string): void {
    const others = (this.#underWay.get(fingerprint) ?? 1) - 1
    if (others === 0) this.#underWay.delete(fingerprint)
    else this.#underWay.set(fingerprint, others)
  }
}
