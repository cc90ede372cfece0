import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { secret } from '@osworld-e2b/redaction'
import { startRelay, type Relay, type RelayEvent, type RelayTarget } from '../src/index.ts'

export const token = 'traffic-token-0123456789abcdef'
export const guestPorts = { server: 5000, cdp: 9222, vnc: 6080, vlc: 8080 }

export interface Edge {
  readonly server: Server
  readonly url: string
  close(): Promise<void>
}

/** A server on a free loopback port that stands for the sandbox's edge and the guest behind it. */
export async function startEdge(onRequest: (request: IncomingMessage, response: ServerResponse) => void): Promise<Edge> {
  const server = createServer(onRequest)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    server,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

export function targetAt(url: string): RelayTarget {
  return {
    endpoint: (guestPort) => ({
      baseUrl: url,
      headers: { 'e2b-sandbox-id': 'sandbox1', 'e2b-sandbox-port': String(guestPort) },
      host: `localhost:${guestPort}`,
      trafficToken: secret(token, 'traffic token'),
    }),
  }
}

export interface Scene {
  readonly relay: Relay
  readonly edge: Edge
  readonly events: RelayEvent[]
  close(): Promise<void>
}

/** A relay that points at an edge which answers by `onRequest`. */
export async function startScene(onRequest: (request: IncomingMessage, response: ServerResponse) => void): Promise<Scene> {
  const events: RelayEvent[] = []
  const edge = await startEdge(onRequest)
  const relay = await startRelay({ ports: guestPorts, onEvent: (event) => events.push(event) })
  relay.setTarget(targetAt(edge.url))
  return {
    relay,
    edge,
    events,
    async close() {
      await relay.close()
      await edge.close()
    },
  }
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

/** One request with full control over its headers, read whole. */
export async function ask(port: number, path: string, options: RequestOptions & { readonly body?: string | Buffer } = {}): Promise<Answer> {
  const { body, ...requestOptions } = options
  const request = httpRequest({ host: '127.0.0.1', port, path, ...requestOptions })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return { status: response.statusCode ?? 0, headers: response.headers, rawHeaders: response.rawHeaders, body: await buffer(response) }
}

/** Waits until the condition holds; fails after 10 s. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('The condition did not come true within 10 s.')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
