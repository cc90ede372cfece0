import { ModelGatewayError } from './model-gateway-error.ts'

/** Counts the requests of a run and refuses what goes beyond its cap. */
export class RequestBudget {
  readonly #cap: number | undefined
  sent: number

  constructor(cap: number | undefined, before: number) {
    this.#cap = cap
    this.sent = before
  }

  /** Counts one request; gives the refusal instead when the cap is reached. */
  take(): ModelGatewayError | undefined {
    if (this.#cap !== undefined && this.sent >= this.#cap) {
      return new ModelGatewayError('budget', `The run's budget of ${this.#cap} model requests is used up.`)
    }
    this.sent += 1
    return undefined
  }
}
