export { RelayError, type RelayErrorCode } from './relay-error.ts'
export { type PortName, type RelayEvent } from './relay-event.ts'
export { startRelay, type Relay, type RelayOptions } from './relay.ts'
export { type RelayTarget, type TargetEndpoint } from './target.ts'
