export type RedactionErrorCode = 'empty' | 'too_short'

/** A secret that cannot be kept; the message names it by its label, never by its value. */
export class RedactionError extends Error {
  readonly code: RedactionErrorCode

  constructor(code: RedactionErrorCode, message: string) {
    super(message)
    this.name = 'RedactionError'
    this.code = code
  }
}
