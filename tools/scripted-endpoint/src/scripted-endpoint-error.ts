export type ScriptedEndpointErrorCode = 'usage' | 'script_invalid' | 'cannot_listen'

export class ScriptedEndpointError extends Error {
  readonly code: ScriptedEndpointErrorCode

  constructor(code: ScriptedEndpointErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ScriptedEndpointError'
    this.code = code
  }
}
