export type LocalE2bErrorCode =
  | 'bad_request'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'too_many'
  | 'not_offered'
  | 'start_failed'
  | 'closing'
  | 'busy'
  | 'close_incomplete'
  | 'data_folder_locked'
  | 'port_taken'
  | 'data_folder_invalid'
  | 'build_failed'
  | 'agent_refused'
  | 'agent_unreachable'
  | 'port_closed'
  | 'machine_unfit'

/** What this lib throws; the message says what failed, which one, and what to do next. */
export class LocalE2bError extends Error {
  readonly code: LocalE2bErrorCode

  constructor(code: LocalE2bErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'LocalE2bError'
    this.code = code
  }
}

/** The message of whatever was thrown. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
