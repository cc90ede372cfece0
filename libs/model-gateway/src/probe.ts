import { askEndpoint, type Connections } from './ask-endpoint.ts'
import type { Endpoint } from './endpoint.ts'
import type { GatewayTimings } from './gateway-options.ts'
import { probeHeaders } from './headers.ts'
import { addressAt } from './wire.ts'

export interface ProbeTools {
  readonly connections: Connections
  readonly timings: GatewayTimings
}

/** Asks an endpoint for its list of models, which costs nothing and is no request of the run; null when there is no answer. */
export async function probe({ connections, timings }: ProbeTools, { url, style, apiKey }: Endpoint, signal: AbortSignal): Promise<number | null> {
  const limits = { connectMs: timings.probeMs, firstByteMs: timings.probeMs, stallMs: timings.probeMs }
  try {
    const reply = await askEndpoint({
      url: addressAt(url, { style, rest: '/models', query: '' }),
      method: 'GET',
      headers: probeHeaders(style, apiKey),
      body: Buffer.alloc(0),
      connections,
      timings: limits,
      signal,
    })
    return reply.status
  } catch {
    // No answer is what this question was to find out.
    return null
  }
}
