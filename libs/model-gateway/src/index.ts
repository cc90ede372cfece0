export { openModelGateway, type AttemptModel, type ModelGateway, type ModelHealth } from './gateway.ts'
export type { GatewayEndpoint, GatewayOptions, GatewayTimings } from './gateway-options.ts'
export { ModelGatewayError, type ModelGatewayErrorCode } from './model-gateway-error.ts'
