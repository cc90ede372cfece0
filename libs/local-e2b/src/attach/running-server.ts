import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { localServerFileSchema, parseJsonDocument, type LocalServerFile } from '@osworld-e2b/contracts'

const healthDeadlineMs = 3_000

/** The server that holds this data folder now, or nothing: its file may outlive it, and its pid may be another's by now. */
export async function findRunningServer(dataFolder: string): Promise<LocalServerFile | undefined> {
  const path = join(dataFolder, 'server.json')
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const server = parseJsonDocument(localServerFileSchema, path, text)
  return (await processStart(server.pid)) === server.pid_start && (await answers(server.url)) ? server : undefined
}

/** Field 22 of `/proc/<pid>/stat` (proc(5)), counted from the last parenthesis since a command's name may hold any character. */
async function processStart(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(new URL('/health', url), { signal: AbortSignal.timeout(healthDeadlineMs) })).ok
  } catch {
    // Not reachable is the answer that was asked for.
    return false
  }
}
