export type RelayErrorCode = 'bind_failed'

/** The relay's listeners could not be made. */
export class RelayError extends Error {
  readonly code: RelayErrorCode

  constructor(code: RelayErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'RelayError'
    this.code = code
  }
}
