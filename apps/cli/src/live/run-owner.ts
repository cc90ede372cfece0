import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { parseJsonDocument, type RunLock, runLockSchema } from '@osworld-e2b/contracts'
import { refuseHeldLock, SchedulerError } from '@osworld-e2b/scheduler'

/** Who coordinates a run: a living process of this host, one that is gone, one of another host that nobody here can see, or none. */
export type RunOwner = { readonly standing: 'lives' | 'gone' | 'elsewhere'; readonly lock: RunLock } | { readonly standing: 'none'; readonly lock?: undefined }

/** Reads `run.lock` and looks at its process; changes nothing. */
export async function readRunOwner(runFolder: string): Promise<RunOwner> {
  const path = join(runFolder, 'run.lock')
  const text = await readIfThere(path)
  if (text === undefined) return { standing: 'none' }
  const lock = parseJsonDocument(runLockSchema, path, text)
  if (lock.host !== hostname()) return { standing: 'elsewhere', lock }
  return { standing: (await isHeld(path)) ? 'lives' : 'gone', lock }
}

async function isHeld(path: string): Promise<boolean> {
  try {
    await refuseHeldLock(path)
    return false
  } catch (error) {
    if (error instanceof SchedulerError && error.code === 'run_locked') return true
    throw error
  }
}

/** The text of a file; undefined when there is none. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
