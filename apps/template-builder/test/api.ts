import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export const buildId = '11111111-2222-4333-8444-555555555555'
export const apiKey = `e2b_${'a'.repeat(40)}`

export interface TinyApi {
  readonly url: string
  readonly keys: Set<string | string[] | undefined>
  /** How builds go from now on. */
  outcome: 'ready' | 'error' | 'building'
  /** Resolves at the first question about a build's state. */
  readonly asked: Promise<void>
  close(): Promise<void>
}

/** The least of E2B's template API: one template, which exists as soon as it was built. */
export async function startTinyApi(): Promise<TinyApi> {
  let isBuilt = false
  let told: () => void = () => undefined
  const asked = new Promise<void>((resolve) => (told = resolve))
  const answers: readonly [RegExp, () => readonly [number, unknown]][] = [
    [/^GET \/templates\/aliases\//, () => (isBuilt ? [200, { templateID: 'tpl', public: false }] : [404, { code: 404, message: 'none' }])],
    [/^GET \/templates\/tpl\/tags$/, () => [200, [{ tag: 'default', buildID: buildId, createdAt: '2026-01-01T00:00:00Z' }]]],
    [/^POST \/v3\/templates$/, () => [202, { templateID: 'tpl', buildID: buildId, names: [], aliases: [], tags: ['default'], public: false }]],
    [/^GET \/templates\/tpl\/files\//, () => [201, { present: true }]],
    [/^POST \/v2\/templates\/tpl\/builds\//, () => [202, {}]],
    [/^GET \/templates\/tpl\/builds\//, () => [200, state(api.outcome)]],
  ]
  const server = createServer((request, response) => {
    api.keys.add(request.headers['x-api-key'])
    request.resume()
    const wanted = `${request.method ?? ''} ${(request.url ?? '').split('?')[0] ?? ''}`
    const [status, body] = answers.find(([pattern]) => pattern.test(wanted))?.[1]() ?? [404, { code: 404, message: `unexpected ${wanted}` }]
    if (wanted.includes('/status')) {
      isBuilt ||= api.outcome === 'ready'
      told()
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  const api: TinyApi = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, keys: new Set(), outcome: 'ready', asked, close }
  return api
}

function state(outcome: TinyApi['outcome']): unknown {
  const reason = outcome === 'error' ? { message: 'exit status 7', step: '5' } : undefined
  return { templateID: 'tpl', buildID: buildId, status: outcome, reason, logEntries: [], logs: [] }
}
