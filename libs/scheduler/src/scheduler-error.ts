export type SchedulerErrorCode = 'ledger_broken' | 'run_locked' | 'run_differs' | 'run_unreadable' | 'run_unwritable'

/** A run folder that cannot be used as asked; the message says what, which, and what to do next. */
export class SchedulerError extends Error {
  readonly code: SchedulerErrorCode

  constructor(code: SchedulerErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'SchedulerError'
    this.code = code
  }
}
