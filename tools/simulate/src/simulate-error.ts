/** `usage`: the command line is wrong; `stuck`: nothing is left that could end the run. */
export type SimulateErrorCode = 'usage' | 'stuck'

export class SimulateError extends Error {
  override readonly name = 'SimulateError'
  readonly code: SimulateErrorCode

  constructor(code: SimulateErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
