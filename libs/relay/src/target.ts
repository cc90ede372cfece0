import type { Secret } from '@osworld-e2b/redaction'

/** Where one port of a sandbox answers, and what a request to it must carry. */
export interface TargetEndpoint {
  /** Origin such as `https://5000-abc.e2b.app`, without a path. */
  readonly baseUrl: string
  /** Routing headers; they hold no secret. */
  readonly headers: Readonly<Record<string, string>>
  /** Value of the `Host` header. */
  readonly host: string
  /** Sent as `e2b-traffic-access-token`. */
  readonly trafficToken: Secret
}

/** A sandbox as the relay needs it: an endpoint for each guest port. */
export interface RelayTarget {
  endpoint(guestPort: number): TargetEndpoint
}
