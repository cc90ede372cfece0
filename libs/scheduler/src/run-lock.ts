import { open, readFile, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { parseJsonDocument, type RunLock, runLockSchema } from '@osworld-e2b/contracts'
import { prettyJson } from '@osworld-e2b/inventory'
import { isProcessAlive, processStart } from './process-identity.ts'
import { SchedulerError } from './scheduler-error.ts'

export interface HeldLock {
  release(): Promise<void>
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
  for (;;) {
    if (await tryCreate(path, prettyJson(mine))) return { release: () => rm(path, { force: true }) }
    const stale = await staleOwner(path)
    if (stale === undefined) continue
    await moveAside(path, stale)
  }
}

async function tryCreate(path: string, text: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o644)
    try {
      await file.writeFile(text)
      await file.datasync()
    } finally {
      await file.close()
    }
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    throw error
  }
}

/** The text of a lock whose owner is gone; undefined when the lock vanished meanwhile; throws when its owner lives. */
async function staleOwner(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  })
  if (text === undefined) return undefined
  if (text.trim() === '') return text
  const lock = parseJsonDocument(runLockSchema, path, text)
  const isElsewhere = lock.host !== hostname()
  if (isElsewhere || (await isProcessAlive({ pid: lock.pid, start: lock.pid_start }))) {
    throw new SchedulerError(
      'run_locked',
      `The run in ${path} belongs to process ${lock.pid} on ${lock.host} since ${lock.acquired_at}. Wait for it, stop it, or choose another --run-id.`,
    )
  }
  return text
}

/** Two take-overs at once: only the one that moves the very lock it read goes on; the other sees a new owner. */
async function moveAside(path: string, expected: string): Promise<void> {
  const aside = `${path}.stale-${process.pid}`
  await rename(path, aside).catch((error: unknown) => {
    if (!isCode(error, 'ENOENT')) throw error
  })
  const moved = await readFile(aside, 'utf8').catch(() => expected)
  if (moved !== expected) await rename(aside, path)
  else await rm(aside, { force: true })
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
