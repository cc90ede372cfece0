export type ProveErrorCode = 'usage' | 'not_ready' | 'interrupted'

/** Why there is no record: a mistake of the user, an unready machine, or a stop. */
export class ProveError extends Error {
  readonly code: ProveErrorCode

  constructor(code: ProveErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ProveError'
    this.code = code
  }
}
