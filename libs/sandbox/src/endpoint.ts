import type { Connection } from '@osworld-e2b/contracts'
import type { Secret } from '@osworld-e2b/redaction'
import type { CreatedSandbox } from './control-plane.ts'

/** How one guest port is reached. */
export interface GuestEndpoint {
  /** Origin, without a path. */
  readonly baseUrl: string
  /** Routing headers; empty where the host name says it all. */
  readonly headers: Readonly<Record<string, string>>
  /** Value for the `Host` header, for clients that can set it. */
  readonly host: string
  readonly trafficToken: Secret
}

export interface EndpointRequest {
  readonly sandbox: Pick<CreatedSandbox, 'id' | 'host'>
  readonly trafficToken: Secret
  readonly port: number
}

/**
 * On `e2b` a port has a host name of its own; elsewhere all share the origin `sandbox_url` and two headers route. A
 * local server passes our `Host` on, so that DevTools see localhost; elsewhere the edge masks it.
 */
export function guestEndpoint(connection: Connection, { sandbox, trafficToken, port }: EndpointRequest): GuestEndpoint {
  const origin = connection.route === 'e2b' ? undefined : (connection.sandbox_url ?? connection.api_url)
  if (origin === undefined) {
    const host = sandbox.host(port)
    return { baseUrl: `https://${host}`, headers: {}, host, trafficToken }
  }
  const url = new URL(origin)
  return {
    baseUrl: url.origin,
    headers: { 'E2b-Sandbox-Id': sandbox.id, 'E2b-Sandbox-Port': String(port) },
    host: connection.route === 'local' ? `localhost:${port}` : url.host,
    trafficToken,
  }
}

/** All headers of a request to the endpoint, with the token in clear; `Host` is left to the client. */
export function endpointHeaders(endpoint: GuestEndpoint): Record<string, string> {
  return { accept: 'application/json', ...endpoint.headers, 'e2b-traffic-access-token': endpoint.trafficToken.reveal() }
}
