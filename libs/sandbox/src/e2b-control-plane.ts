import { E2B, SandboxNotFoundError } from 'e2b'
import type { Connection } from '@osworld-e2b/contracts'
import type { ControlPlane, SandboxSummary } from './control-plane.ts'
import { explainFailure } from './e2b-failure.ts'

const cloudDomain = 'e2b.app'
/** Under the 80 s after which E2B's load balancer cuts a call. */
const requestTimeoutMs = 20_000

/** E2B's API through its SDK; every setting is stated, so that none comes from the process's environment. */
export function e2bControlPlane(connection: Connection): ControlPlane {
  const { Sandbox } = new E2B({
    apiKey: connection.api_key,
    domain: cloudDomain,
    apiUrl: connection.api_url ?? `https://api.${cloudDomain}`,
    debug: false,
    requestTimeoutMs,
    ...(connection.sandbox_url === undefined ? {} : { sandboxUrl: connection.sandbox_url }),
  })
  return {
    async create({ template, metadata, timeoutSeconds, requestTimeoutMs: createTimeoutMs, signal }) {
      const sandbox = await Sandbox.create(template, {
        metadata: { ...metadata },
        timeoutMs: timeoutSeconds * 1_000,
        lifecycle: { onTimeout: 'kill' },
        // Chrome's DevTools answer only to a Host that is an address or localhost.
        network: { allowPublicTraffic: false, maskRequestHost: 'localhost:${PORT}' },
        requestTimeoutMs: createTimeoutMs,
        signal,
      })
      return { id: sandbox.sandboxId, host: (port) => sandbox.getHost(port), trafficToken: sandbox.trafficAccessToken }
    },
    kill: (id) => Sandbox.kill(id, { requestTimeoutMs }),
    async state(id) {
      const info = await undefinedIfUnknown(Sandbox.getInfo(id, { requestTimeoutMs }))
      return info?.state ?? 'gone'
    },
    async extend(id, timeoutSeconds) {
      const extended = Sandbox.setTimeout(id, timeoutSeconds * 1_000, { requestTimeoutMs }).then(() => true)
      return (await undefinedIfUnknown(extended)) ?? false
    },
    async list(metadata) {
      const pages = Sandbox.list({ query: { metadata: { ...metadata } }, requestTimeoutMs })
      const found = new Map<string, SandboxSummary>()
      while (pages.hasNext) {
        const before = found.size
        const page = await pages.nextItems({ requestTimeoutMs })
        for (const { sandboxId: id, templateId: template, metadata: marks, state, startedAt, endAt } of page) found.set(id, { id, template, metadata: marks, state, startedAt, endAt })
        // A compatible server that ignores the token gives the same page for ever.
        if (page.length > 0 && found.size === before) break
      }
      // One that ignores the filter must not make us kill somebody else's sandboxes.
      return [...found.values()].filter((item) => Object.entries(metadata).every(([key, value]) => item.metadata[key] === value))
    },
    explain: (error) => explainFailure(error, connection.route),
  }
}

async function undefinedIfUnknown<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof SandboxNotFoundError) return undefined
    throw error
  }
}
