import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { E2B } from 'e2b'
import { build } from 'esbuild'
import { createNamespaceDriver, startLocalE2b } from '@osworld-e2b/local-e2b'
import { secret } from '@osworld-e2b/redaction'

const apiKey = `e2b_${'6'.repeat(40)}`

export interface LocalServer {
  readonly dataFolder: string
  readonly url: string
  readonly apiKey: string
  /** A small sandbox with these marks; gives its id. */
  create(metadata: Record<string, string>): Promise<string>
  /** Ids of the sandboxes that the API lists, sorted. */
  list(): Promise<readonly string[]>
  /** Idempotent. */
  close(): Promise<void>
}

/** A real local E2B server in this process with one small template. Its base image is kept between test runs. */
export async function startLocalServer(): Promise<LocalServer> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'cli-local-'))
  const agentFile = join(dataFolder, 'guest-agent.cjs')
  await bundleAgent(agentFile)
  const cachedBases = join(process.env['OSWORLD_TEST_CACHE'] ?? join(tmpdir(), `osworld-e2b-test-cache-${userInfo().uid}`), 'bases')
  await mkdir(cachedBases, { recursive: true })
  await symlink(cachedBases, join(dataFolder, 'bases'))
  const server = await startLocalE2b({ dataFolder, driver: namespaceDriver(dataFolder, agentFile), apiKey: secret(apiKey, 'API key'), pid: process.pid, log: silentLog })
  const client = new E2B({ apiKey, apiUrl: server.url, sandboxUrl: server.url, debug: false })
  const { buildId } = await client.Template.build(client.Template({ fileContextPath: tmpdir() }).fromTemplate('base'), 'cli-small', { cpuCount: 1, memoryMB: 512 })
  const close = async (): Promise<void> => {
    await server.close()
    const cleaner = namespaceDriver(dataFolder, agentFile)
    await cleaner.removeFolder(join(dataFolder, 'layers'))
    await cleaner.close()
    await rm(dataFolder, { recursive: true, force: true })
  }
  let closing: Promise<void> | undefined
  return {
    dataFolder,
    url: server.url,
    apiKey,
    create: async (metadata) => (await client.Sandbox.create(`cli-small:${buildId}`, { metadata, timeoutMs: 300_000 })).sandboxId,
    list: async () => (await client.Sandbox.list().nextItems()).map(({ sandboxId }) => sandboxId).sort(),
    close: () => (closing ??= close()),
  }
}

function namespaceDriver(dataFolder: string, agentFile: string): ReturnType<typeof createNamespaceDriver> {
  const { uid, gid, username } = userInfo()
  return createNamespaceDriver({ dataFolder, agentFile, nodeFile: process.execPath, account: { uid, gid, name: username }, pid: process.pid, environment: process.env, hostNetwork: { environment: {}, files: {} }, log: () => undefined })
}

async function bundleAgent(outfile: string): Promise<void> {
  const entry = join(import.meta.dirname, '../../../libs/local-e2b/src/guest-agent/main.ts')
  await build({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'cjs', target: 'node20', conditions: ['@osworld-e2b/source'], logLevel: 'error' })
}

const silentLog = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
