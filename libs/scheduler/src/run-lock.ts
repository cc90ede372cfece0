import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { parseJsonDocument, type RunLock, runLockSchema } from '@osworld-e2b/contracts'
import { prettyJson } from '@osworld-e2b/inventory'
import { isProcessAlive, processStart } from './process-identity.ts'
import { SchedulerError } from './scheduler-error.ts'

export interface HeldLock {
  /** Removes the lock, unless somebody else holds it by now. */
  release(): Promise<void>
}

/** Throws `run_locked` when a living process holds the lock; changes nothing. */
export async function refuseHeldLock(path: string): Promise<void> {
  const text = await readIfThere(path)
  if (text !== undefined) await refuseLiving(path, text)
}

/**
 * Takes `run.lock` for this process, or throws `run_locked` naming the owner. A lock whose owner on this host is gone is
 * taken over; one of another host never is, since its owner cannot be looked at from here.
 */
export async function acquireRunLock(path: string, owner: { readonly pid: number; readonly now: Date }): Promise<HeldLock> {
  const mine: RunLock = {
    schema_version: 1,
    host: hostname(),
    pid: owner.pid,
    pid_start: (await processStart(owner.pid)) ?? 'unknown',
    acquired_at: owner.now.toISOString(),
  }
  const text = prettyJson(mine)
  const draft = `${path}.${owner.pid}`
  await writeFile(draft, text)
  try {
    // A link appears whole or not at all, so nobody ever reads a half-written lock.
    while (!(await tryLink(draft, path))) await removeStale(path, `${draft}.stale`)
  } finally {
    await rm(draft, { force: true })
  }
  return {
    release: async () => {
      if ((await readIfThere(path)) === text) await rm(path, { force: true })
    },
  }
}

async function tryLink(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path)
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    throw error
  }
}

/** Removes a lock whose owner is gone; throws when its owner lives. Of two that do so at once one finds it moved already. */
async function removeStale(path: string, aside: string): Promise<void> {
  const text = await readIfThere(path)
  if (text === undefined) return
  await refuseLiving(path, text)
  try {
    await rename(path, aside)
  } catch (error) {
    if (isCode(error, 'ENOENT')) return
    throw error
  }
  const moved = await readIfThere(aside)
  // A new owner came between the look and the move: its lock goes back where nobody has taken the place meanwhile.
  if (moved !== undefined && moved !== text) await tryLink(aside, path)
  await rm(aside, { force: true })
}

async function refuseLiving(path: string, text: string): Promise<void> {
  const lock = parseJsonDocument(runLockSchema, path, text)
  const isElsewhere = lock.host !== hostname()
  if (!isElsewhere && !(await isProcessAlive({ pid: lock.pid, start: lock.pid_start }))) return
  throw new SchedulerError(
    'run_locked',
    `The run in ${path} belongs to process ${lock.pid} on ${lock.host} since ${lock.acquired_at}. Wait for it, stop it, or choose another --run-id.`,
  )
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
