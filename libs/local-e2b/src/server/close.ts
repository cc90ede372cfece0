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

/** Together the five seconds that a caller waits at most. */
const sandboxesLimitMs = 4000
const driverLimitMs = 1000

/** Ends everything the server started and verifies it; the lock goes last, so that the next server finds nothing living. */
export async function closeServer(parts: ClosingParts): Promise<void> {
  const { server, sandboxes, builds, driver, log, folder, unlock } = parts
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const ended = Promise.all([sandboxes.close(), builds.close()])
  server.closeAllConnections()
  const inTime = await within(sandboxesLimitMs, Promise.all([ended, closed]))
  const driverEnded = await within(driverLimitMs, driver.close())
  const left = await readdir(folder.sandboxes)
  await unlock()
  if (inTime && driverEnded && left.length === 0) {
    log.info({}, 'server closed')
    return
  }
  throw new LocalE2bError('close_incomplete', `Not everything ended within ${(sandboxesLimitMs + driverLimitMs) / 1000} s${left.length === 0 ? '' : `; folders left in ${folder.sandboxes}: ${left.join(', ')}`}. The next start removes them.`)
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
