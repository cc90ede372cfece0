import { mkdir } from 'node:fs/promises'
import { userInfo } from 'node:os'
import path from 'node:path'
import { localServerReadySchema } from '@osworld-e2b/contracts'
import { createNamespaceDriver, gatherHostNetwork, startLocalE2b, type LocalE2b } from '@osworld-e2b/local-e2b'
import { apiKeyOf } from './api-key.ts'
import type { ServeArguments } from './arguments.ts'
import { openServerLog } from './server-log.ts'

export interface ServeContext {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly pid: number
  readonly nodeFile: string
  readonly write: (text: string) => void
  /** Resolves when the server shall end. */
  readonly stopped: Promise<string>
}

/** Serves one data folder until told to stop; throws what keeps it from starting or from ending cleanly. */
export async function serve(options: ServeArguments, context: ServeContext): Promise<void> {
  const dataFolder = path.resolve(options.data)
  await mkdir(dataFolder, { recursive: true })
  const log = openServerLog(dataFolder)
  const server = await start(options, context, { dataFolder, log })
  context.write(`${JSON.stringify(localServerReadySchema.parse({ type: 'ready', url: server.url, server_file: server.serverFile }))}\n`)
  log.info({ cause: await context.stopped }, 'server ends')
  await server.close()
}

async function start(options: ServeArguments, context: ServeContext, place: { readonly dataFolder: string; readonly log: ReturnType<typeof openServerLog> }): Promise<LocalE2b> {
  const { dataFolder, log } = place
  const { uid, gid, username, homedir } = userInfo()
  const { environment } = context
  const driver = createNamespaceDriver({
    dataFolder,
    agentFile: path.resolve(options.agent),
    nodeFile: context.nodeFile,
    account: { uid, gid, name: username },
    pid: context.pid,
    environment,
    hostNetwork: await gatherHostNetwork({ environment, homeFolder: homedir }),
    log: (line) => log.info({}, line),
  })
  return startLocalE2b({
    dataFolder,
    driver,
    apiKey: await apiKeyOf(dataFolder),
    port: options.port,
    pid: context.pid,
    log,
    limits: { maxConcurrentSandboxes: options.maxSandboxes },
    imageAliases: options.imageAlias,
  })
}
