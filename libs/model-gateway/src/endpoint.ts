import { ModelGatewayError } from './model-gateway-error.ts'
import type { GatewayEndpoint } from './gateway-options.ts'
import { EndpointHealth } from './endpoint-health.ts'
import { Permits } from './permits.ts'
import type { WireStyle } from './wire.ts'

/** One endpoint while the gateway is open. */
export interface Endpoint extends GatewayEndpoint {
  readonly health: EndpointHealth
  readonly permits: Permits
  /** As the last call had it, so that a probe carries the key as the endpoint reads it. */
  style: WireStyle
}

/** Refuses a list that cannot be served; no sentence repeats an address. */
export function endpointsOf(endpoints: readonly GatewayEndpoint[], failuresUntilOut: number): Endpoint[] {
  if (endpoints.length === 0) throw new ModelGatewayError('invalid_endpoint', 'The model gateway has no endpoint to ask; name at least one.')
  const labels = endpoints.map(({ label }) => label)
  const twice = labels.find((label, index) => labels.indexOf(label) !== index)
  if (twice !== undefined) throw new ModelGatewayError('invalid_endpoint', `The model endpoint ${twice} is named twice; name it once.`)
  return endpoints.map((endpoint) => {
    refuseAddress(endpoint)
    const permits = new Permits(endpoint.maxConcurrentRequests ?? Number.POSITIVE_INFINITY)
    return { ...endpoint, health: new EndpointHealth(failuresUntilOut), permits, style: 'openai' as const }
  })
}

function refuseAddress({ label, url }: GatewayEndpoint): void {
  const address = URL.canParse(url) ? new URL(url) : undefined
  if (address === undefined || !['http:', 'https:'].includes(address.protocol)) {
    throw new ModelGatewayError('invalid_endpoint', `The model endpoint ${label} is no http or https address; write it like https://host/v1.`)
  }
  if (address.username !== '' || address.password !== '' || address.hash !== '') {
    throw new ModelGatewayError('invalid_endpoint', `The address of the model endpoint ${label} holds a user, a password or a fragment; give its key apart.`)
  }
}
