export type AggregationErrorCode = 'illegal_transition'

/** A ledger that breaks its own rules; the message names the event and the attempt. */
export class AggregationError extends Error {
  readonly code: AggregationErrorCode

  constructor(code: AggregationErrorCode, message: string) {
    super(message)
    this.name = 'AggregationError'
    this.code = code
  }
}
