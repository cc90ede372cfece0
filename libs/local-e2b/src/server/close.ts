import { readdir } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { Builds } from '../builder/builds.ts'
import type { SandboxDriver } from '../driver.ts'
import { LocalE2bError } from '../error.ts'
import type { Sandboxes } from '../sandboxes/sandboxes.ts'
import type { DataFolder } from '../store/data-folder.ts'
import type { Log } from './log.ts'

export interface ClosingParts {
  readonly server: Server
  readonly sandboxes: Sandboxes
  readonly builds: Builds
  readonly driver: SandboxDriver
  readonly log: Log
  readonly folder: DataFolder
  readonly unlock: () => Promise<void>
}

/** Together the six seconds that a caller waits at most. */
const sandboxesLimitMs = 4000
/** For answers that are under way, and again for what had to be cut. */
const answersLimitMs = 500
const driverLimitMs = 1000

/** Ends everything the server started and verifies it; the lock goes last, so that the next server finds nothing living. */
export async function closeServer(parts: ClosingParts): Promise<void> {
  const { server, sandboxes, builds, driver, log, folder, unlock } = parts
  // Until all is ended the API answers, so that whoever owns a sandbox can kill it and learn that it is gone.
  const ended = await within(sandboxesLimitMs, Promise.all([sandboxes.close(), builds.close()]))
  const closed = await stopListening(server)
  const driverEnded = await within(driverLimitMs, driver.close())
  const left = await readdir(folder.sandboxes)
  await unlock()
  if (ended && closed && driverEnded && left.length === 0) {
    log.info({}, 'server closed')
    return
  }
  throw new LocalE2bError('close_incomplete', `Not everything ended within ${(sandboxesLimitMs + 2 * answersLimitMs + driverLimitMs) / 1000} s${left.length === 0 ? '' : `; folders left in ${folder.sandboxes}: ${left.join(', ')}`}. The next start removes them.`)
}

/** Lets the answers out that are under way, then cuts what is left. */
async function stopListening(server: Server): Promise<boolean> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  if (await within(answersLimitMs, closed)) return true
  server.closeAllConnections()
  return within(answersLimitMs, closed)
}

async function within(limitMs: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), limitMs)))
  try {
    return await Promise.race([work.then(() => true), limit])
  } finally {
    clearTimeout(timer)
  }
}
