export type ReportErrorCode = 'run_not_found' | 'not_a_run' | 'other_version' | 'run_unreadable' | 'page_unwritable'

/** A run that cannot be reported on, or a page that cannot be written; the message says what, which, and what to do next. */
export class ReportError extends Error {
  readonly code: ReportErrorCode

  constructor(code: ReportErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ReportError'
    this.code = code
  }
}
