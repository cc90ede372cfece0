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

/** For what the system refuses to write: a full or read-only disk ends a run and loses nothing of what is recorded. */
export function unwritable(path: string, cause: Error): SchedulerError {
  return new SchedulerError(
    'run_unwritable',
    `${path} cannot be written (${cause.message}). What is recorded is kept: mend that, such as by freeing disk space, and start the run again with the same --run-id.`,
    { cause },
  )
}

export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error
}

/** Whether a write failed for want of room, which somebody can make. */
export function isDiskFull(error: unknown): error is NodeJS.ErrnoException {
  return isSystemError(error) && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
}

/** Whatever was thrown, as an error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
