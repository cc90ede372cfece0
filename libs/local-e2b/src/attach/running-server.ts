import type { LocalServerFile } from '@osworld-e2b/contracts'
import { isLiving } from '../process-identity.ts'
import { readServerFile } from '../server/server-file.ts'

const healthDeadlineMs = 3_000

/** The server that serves this data folder now, or nothing: its file may outlive it, its pid may be another's, and it may be about to end. */
export async function findRunningServer(dataFolder: string): Promise<LocalServerFile | undefined> {
  const server = await readServerFile(dataFolder)
  if (server === undefined || !(await isLiving({ pid: server.pid, startTime: server.pid_start }))) return undefined
  return (await answers(server.url)) ? server : undefined
}

/** A server that is closing answers too, but not with success. */
async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(new URL('/health', url), { signal: AbortSignal.timeout(healthDeadlineMs) })).ok
  } catch {
    // Not reachable is the answer that was asked for.
    return false
  }
}
