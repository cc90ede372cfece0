import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Connection } from '@osworld-e2b/contracts'

export const templateId = 'tplaaaaaaaaaaaaaaaaa'
export const buildId = '11111111-2222-4333-8444-555555555555'

export interface LogLine {
  readonly step?: string
  readonly message: string
}

/** What the build's state is at each poll; `drop` ends the connection without an answer. The last one is repeated. */
export type Poll = 'drop' | { readonly status: 'building' | 'ready' | 'error'; readonly lines?: readonly LogLine[]; readonly reason?: { readonly message: string; readonly step?: string } }

export interface Script {
  /** The name that exists already, with its builds, oldest first. */
  readonly existing?: { readonly builds: readonly { readonly buildId: string; readonly status: string; readonly at: string }[] }
  readonly polls?: readonly Poll[]
  /** Answer to everything. */
  readonly refusal?: { readonly status: number; readonly message: string }
}

export interface ScriptedApi {
  readonly connection: Connection
  /** Method and path of each request, in order. */
  readonly requests: readonly string[]
  close(): Promise<void>
}

/** A server that speaks the template part of E2B's API from a script, on a port of its own. */
export async function startScriptedApi(script: Script): Promise<ScriptedApi> {
  const requests: string[] = []
  const polls = [...(script.polls ?? [])]
  const log: LogLine[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method ?? ''} ${request.url ?? ''}`)
    request.resume()
    const answer = script.refusal === undefined ? route(request, script, () => nextState(request, polls, log)) : { status: script.refusal.status, body: { code: script.refusal.status, message: script.refusal.message } }
    if (answer === 'drop') request.socket.destroy()
    else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    connection: { route: 'local', api_key: `e2b_${'0'.repeat(40)}`, api_url: url, sandbox_url: url },
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

type Answer = 'drop' | { readonly status: number; readonly body: unknown }

function route(request: IncomingMessage, script: Script, state: () => Answer): Answer {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname
  const existing = script.existing
  if (path.startsWith('/templates/aliases/')) return existing === undefined ? { status: 404, body: { code: 404, message: 'no such template' } } : { status: 200, body: { templateID: templateId, public: false } }
  if (path === `/templates/${templateId}/tags`) return { status: 200, body: existing?.builds.map((build, index) => ({ tag: `t${index}`, buildID: build.buildId, createdAt: build.at })) ?? [] }
  if (path === '/v3/templates') return { status: 202, body: { templateID: templateId, buildID: buildId, names: [], aliases: [], tags: [], public: false } }
  if (path.includes('/files/')) return { status: 201, body: { present: true } }
  if (path.startsWith('/v2/templates/')) return { status: 202, body: {} }
  const old = existing?.builds.find((build) => path === `/templates/${templateId}/builds/${build.buildId}/status`)
  return old === undefined ? state() : { status: 200, body: { templateID: templateId, buildID: old.buildId, status: old.status, logEntries: [], logs: [] } }
}

function nextState(request: IncomingMessage, polls: Poll[], log: LogLine[]): Answer {
  const offset = Number(new URL(request.url ?? '/', 'http://localhost').searchParams.get('logsOffset') ?? 0)
  const poll = polls.length > 1 ? polls.shift() : polls[0]
  if (poll === undefined || poll === 'drop') return 'drop'
  if (log.length === offset) log.push(...(poll.lines ?? []))
  const logEntries = log.slice(offset).map((line) => ({ timestamp: '2026-01-01T00:00:00.000Z', level: 'info', ...line }))
  return { status: 200, body: { templateID: templateId, buildID: buildId, status: poll.status, reason: poll.reason, logEntries, logs: [] } }
}
