import { once } from 'node:events'
import type { Server } from 'node:http'
import path from 'node:path'
import { writeJsonAtomic } from '@osworld-e2b/inventory'
import type { Secret } from '@osworld-e2b/redaction'
import { apiHandler } from '../api/api.ts'
import { notOfferedRoutes } from '../api/not-offered-routes.ts'
import { sandboxRoutes } from '../api/sandbox-routes.ts'
import { templateRoutes } from '../api/template-routes.ts'
import { builtInTemplate, openBuilds, type Builds } from '../builder/builds.ts'
import type { SandboxDriver } from '../driver.ts'
import { LocalE2bError } from '../error.ts'
import { readProcessIdentity, type ProcessIdentity } from '../process-identity.ts'
import { newBuildId, newTemplateId, newToken } from '../sandboxes/ids.ts'
import { openSandboxes, type SandboxLimits, type Sandboxes } from '../sandboxes/sandboxes.ts'
import { dataFolderAt, makeDataFolder, type DataFolder } from '../store/data-folder.ts'
import { openTemplateStore, type ReadyImage } from '../store/template-store.ts'
import { uploadStore } from '../store/upload-store.ts'
import { systemClock, type Clock } from './clock.ts'
import { closeServer } from './close.ts'
import { createListener } from './listener.ts'
import { lockDataFolder } from './lock.ts'
import type { Log } from './log.ts'

export interface LocalE2bLimits extends SandboxLimits {
  /** Longest time of one template build. */
  readonly buildLimitMs: number
}

export interface LocalE2bOptions {
  readonly dataFolder: string
  readonly driver: SandboxDriver
  /** `e2b_` and 40 hexadecimal digits. */
  readonly apiKey: Secret
  /** Port on 127.0.0.1; a free one unless said. */
  readonly port?: number
  readonly log: Log
  /** Pid of the process that holds the data folder. */
  readonly pid: number
  readonly clock?: Clock
  readonly limits?: Partial<LocalE2bLimits>
  /** Image names that shall stand for another image; each use is shown in the build's log. */
  readonly imageAliases?: Readonly<Record<string, string>>
}

export interface LocalE2b {
  /** Origin for API and ingress alike. */
  readonly url: string
  readonly serverFile: string
  /**
   * Refuses new sandboxes, cuts all streams, ends all sandboxes, and only then stops answering and gives the data folder back; throws
   * `close_incomplete` naming what is left. Idempotent.
   */
  close(): Promise<void>
}

const defaultLimits: LocalE2bLimits = {
  maxConcurrentSandboxes: 100,
  maxSandboxLifeMs: 24 * 3600 * 1000,
  buildLimitMs: 3600 * 1000,
}

/** Starts an E2B-compatible server on one loopback port; throws `data_folder_locked` when another one holds the folder. */
export async function startLocalE2b(options: LocalE2bOptions): Promise<LocalE2b> {
  const folder = dataFolderAt(options.dataFolder)
  const identity = await readProcessIdentity(options.pid)
  if (identity === undefined) throw new LocalE2bError('data_folder_invalid', `There is no process ${options.pid} to hold ${folder.root}.`)
  await makeDataFolder(folder)
  const unlock = await lockDataFolder(folder, identity)
  try {
    return await serve(options, { folder, identity, unlock })
  } catch (error) {
    await options.driver.close()
    await unlock()
    throw error
  }
}

interface Held {
  readonly folder: DataFolder
  readonly identity: ProcessIdentity
  readonly unlock: () => Promise<void>
}

async function serve(options: LocalE2bOptions, { folder, identity, unlock }: Held): Promise<LocalE2b> {
  const { driver, log } = options
  await driver.prepare()
  const swept = await driver.sweep()
  if (swept.length > 0) log.info({ swept }, 'removed sandboxes of a server that is gone')
  const parts = await assemble(options, folder)
  const url = await listen(parts.server, options.port ?? 0)
  parts.setOrigin(url)
  await writeJsonAtomic(folder.serverFile, { schema_version: 1, url, api_key: options.apiKey.reveal(), pid: identity.pid, pid_start: identity.startTime }, { mode: 0o600 })
  log.info({ url, folder: folder.root }, 'server answers')
  let closing: Promise<void> | undefined
  return {
    url,
    serverFile: folder.serverFile,
    close: () => (closing ??= closeServer({ ...parts, driver, log, folder, unlock })),
  }
}

interface Parts {
  readonly server: Server
  readonly sandboxes: Sandboxes
  readonly builds: Builds
  readonly setOrigin: (origin: string) => void
}

async function assemble(options: LocalE2bOptions, folder: DataFolder): Promise<Parts> {
  const { driver, log, clock = systemClock } = options
  const limits = { ...defaultLimits, ...options.limits }
  const layerPath = (layer: string): string => path.join(folder.root, layer)
  let origin = ''
  const templates = await openTemplateStore({ file: folder.templatesFile, now: () => clock.now(), newTemplateId, newBuildId })
  await templates.addTemplate(builtInTemplate)
  const uploads = uploadStore(folder.uploads, newToken())
  const sandboxes = openSandboxes({ driver, clock, log, limits, layerPath })
  const builds = openBuilds({ driver, folder, templates, uploads, clock, log, layerPath, buildLimitMs: limits.buildLimitMs })
  const imageAliases = new Map(Object.entries(options.imageAliases ?? {}))
  const routes = [
    ...sandboxRoutes({ sandboxes, resolveImage: (reference) => resolveSoon(builds, reference, clock) }),
    ...templateRoutes({ templates, builds, uploads, origin: () => origin, imageAliases }),
    ...notOfferedRoutes(),
  ]
  const server = createListener({ api: apiHandler({ apiKey: options.apiKey, routes, log, isClosing: () => sandboxes.isClosing() }), sandboxes, clock, log })
  return { server, sandboxes, builds, setOrigin: (value) => void (origin = value) }
}

/** Clients give up after a minute and would leave a sandbox that nobody knows; making the first base can take longer. */
const resolveLimitMs = 45_000

async function resolveSoon(builds: Builds, reference: string, clock: Clock): Promise<ReadyImage> {
  let callOff = (): void => undefined
  const late = new Promise<never>((_, reject) => {
    callOff = clock.after(resolveLimitMs, () => reject(new LocalE2bError('busy', `Template '${reference}' is still being made for its first use: try again in a minute.`)))
  })
  try {
    return await Promise.race([builds.resolveImage(reference), late])
  } finally {
    callOff()
  }
}

async function listen(server: Server, port: number): Promise<string> {
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
    throw new LocalE2bError('port_taken', `Port ${port} on 127.0.0.1 is taken by another program: choose another port, or 0 for a free one.`, { cause: error })
  }
  const address = server.address()
  if (address === null || typeof address === 'string') throw new LocalE2bError('data_folder_invalid', 'The server did not get a TCP port.')
  return `http://127.0.0.1:${address.port}`
}
