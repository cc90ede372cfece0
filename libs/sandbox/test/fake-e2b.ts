import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Connection } from '@osworld-e2b/contracts'

export interface FakeSandbox {
  readonly id: string
  readonly metadata: Record<string, string>
  state: 'running' | 'paused'
  timeoutSeconds: number
}

/** Answers a call in the server's place; false lets the server answer as usual. */
export type Fault = (call: Call) => boolean | Promise<boolean>

export interface Call {
  readonly route: string
  readonly body: Record<string, unknown>
  readonly response: ServerResponse
  readonly headers: IncomingMessage['headers']
}

export interface FakeE2b {
  readonly connection: Connection
  readonly sandboxes: Map<string, FakeSandbox>
  /** `METHOD /path` of every call, ids replaced. */
  readonly calls: string[]
  readonly bodies: Record<string, unknown>[]
  fault: Fault
  create(metadata: Record<string, string>): FakeSandbox
  close(): Promise<void>
}

export function answer(response: ServerResponse, status: number, body?: unknown): true {
  const text = body === undefined ? '' : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json', ...(status === 204 ? {} : { 'content-length': Buffer.byteLength(text) }) }).end(text)
  return true
}

export const apiError = (response: ServerResponse, status: number, message: string): true => answer(response, status, { code: status, message })

/** The control plane's six calls over real HTTP, with room for any fault; it starts nothing. */
export async function startFakeE2b(): Promise<FakeE2b> {
  const sandboxes = new Map<string, FakeSandbox>()
  const server = createServer((request, response) => void onRequest(request, response))
  const create = (metadata: Record<string, string>, timeoutSeconds = 300): FakeSandbox => {
    const sandbox: FakeSandbox = { id: `i${(sandboxes.size + Date.now()).toString(36)}${Math.random().toString(36).slice(2)}`, metadata, state: 'running', timeoutSeconds }
    sandboxes.set(sandbox.id, sandbox)
    return sandbox
  }
  async function onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://fake')
    const sent = await text(request)
    const body = (sent === '' ? {} : JSON.parse(sent)) as Record<string, unknown>
    const id = /^\/sandboxes\/([a-z0-9]+)/.exec(url.pathname)?.[1]
    const route = `${request.method ?? ''} ${url.pathname.replace(id ?? '\n', '{id}')}`
    fake.calls.push(route)
    fake.bodies.push(body)
    if (await fake.fault({ route, body, response, headers: request.headers })) return
    const known = id === undefined ? undefined : sandboxes.get(id)
    if (route === 'POST /v2/sandboxes') answer(response, 201, createdBody(create(body['metadata'] as Record<string, string>, body['timeout'] as number)))
    else if (route === 'GET /v2/sandboxes') answerPage(response, [...sandboxes.values()].filter((item) => matches(item, url)), url)
    else if (known === undefined) apiError(response, 404, `sandbox ${id ?? ''} not found`)
    else if (route === 'DELETE /sandboxes/{id}') answer(response, sandboxes.delete(known.id) ? 204 : 404)
    else if (route === 'GET /sandboxes/{id}') answer(response, 200, listed(known))
    else if (route === 'POST /sandboxes/{id}/timeout') {
      known.timeoutSeconds = body['timeout'] as number
      answer(response, 204)
    } else apiError(response, 501, route)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const fake: FakeE2b = {
    connection: { route: 'local', api_key: `e2b_${'0'.repeat(40)}`, api_url: url, sandbox_url: url },
    sandboxes,
    calls: [],
    bodies: [],
    fault: () => false,
    create,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
  return fake
}

export function createdBody({ id }: FakeSandbox): object {
  return { sandboxID: id, templateID: 'base', clientID: 'x', envdVersion: '0.6.4', envdAccessToken: 'envd', trafficAccessToken: `traffic-${id}`, domain: 'sandboxes.example' }
}

/** As E2B pages its list: at most a hundred at a time, the next page by a token in a header. */
function answerPage(response: ServerResponse, found: readonly FakeSandbox[], url: URL): void {
  const from = Number(url.searchParams.get('nextToken') ?? 0)
  const limit = Number(url.searchParams.get('limit') ?? 100)
  if (from + limit < found.length) response.setHeader('x-next-token', String(from + limit))
  answer(response, 200, found.slice(from, from + limit).map(listed))
}

export function listed({ id, metadata, state }: FakeSandbox): object {
  const now = new Date().toISOString()
  return { sandboxID: id, templateID: 'base', clientID: 'x', state, metadata, startedAt: now, endAt: now, cpuCount: 1, memoryMB: 512, diskSizeMB: 1, envdVersion: '0.6.4' }
}

function matches({ metadata }: FakeSandbox, url: URL): boolean {
  const filter = new URLSearchParams(url.searchParams.get('metadata') ?? '')
  return [...filter].every(([key, value]) => metadata[decodeURIComponent(key)] === decodeURIComponent(value))
}

/** Waits until the condition holds; fails after 10 s. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('The condition did not come true within 10 s.')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
