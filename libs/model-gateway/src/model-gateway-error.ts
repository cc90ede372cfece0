export type ModelGatewayErrorCode = 'invalid_endpoint' | 'bind_failed' | 'closed' | 'write_failed' | 'model_unavailable' | 'budget'

/**
 * What the gateway cannot do. `model_unavailable` and `budget` are the reasons with which `AttemptModel.swallowed` aborts; no message holds
 * an address or a key.
 */
export class ModelGatewayError extends Error {
  readonly code: ModelGatewayErrorCode

  constructor(code: ModelGatewayErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ModelGatewayError'
    this.code = code
  }
}
