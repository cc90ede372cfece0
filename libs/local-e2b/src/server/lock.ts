import { link, rename, rm, writeFile } from 'node:fs/promises'
import { parseJsonDocument } from '@osworld-e2b/contracts'
import { z } from 'zod'
import { LocalE2bError } from '../error.ts'
import { isLiving, type ProcessIdentity } from '../process-identity.ts'
import type { DataFolder } from '../store/data-folder.ts'
import { hasSystemCode, readTextIfPresent } from '../store/read-file.ts'
import { readServerFile } from './server-file.ts'

const lockSchema = z.strictObject({ pid: z.int().positive(), pid_start: z.string() })

/** Takes the data folder for `owner`, over the lock of a dead server too; returns what gives it back. Throws `data_folder_locked`. */
export async function lockDataFolder(folder: DataFolder, owner: ProcessIdentity): Promise<() => Promise<void>> {
  const text = `${JSON.stringify({ pid: owner.pid, pid_start: owner.startTime })}\n`
  const own = `${folder.lockFile}.${owner.pid}`
  await writeFile(own, text, { mode: 0o600 })
  try {
    while (!(await tryLink(own, folder.lockFile))) await removeStaleLock(folder, owner)
  } finally {
    await rm(own, { force: true })
  }
  return async () => {
    if ((await readTextIfPresent(folder.lockFile)) === text) await rm(folder.lockFile, { force: true })
  }
}

/** Pid of the living process that holds the data folder, whether it answers already, still or not at all. */
export async function readLockHolder(folder: DataFolder): Promise<number | undefined> {
  const text = await readTextIfPresent(folder.lockFile)
  return text === undefined ? undefined : livingHolder(folder, text)
}

async function livingHolder(folder: DataFolder, text: string): Promise<number | undefined> {
  const { pid, pid_start: startTime } = parseJsonDocument(lockSchema, folder.lockFile, text)
  return (await isLiving({ pid, startTime })) ? pid : undefined
}

/** A link appears with its content, so that nobody reads a lock that is still empty. */
async function tryLink(own: string, lockFile: string): Promise<boolean> {
  try {
    await link(own, lockFile)
    return true
  } catch (error) {
    if (hasSystemCode(error, 'EEXIST')) return false
    throw error
  }
}

async function removeStaleLock(folder: DataFolder, owner: ProcessIdentity): Promise<void> {
  const text = await readTextIfPresent(folder.lockFile)
  if (text === undefined) return
  const holder = await livingHolder(folder, text)
  if (holder !== undefined) throw await lockedError(folder, holder)
  const moved = `${folder.lockFile}.stale.${owner.pid}`
  try {
    await rename(folder.lockFile, moved)
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return
    throw error
  }
  // Another server may have taken the lock between reading and renaming: then it gets its lock back.
  if ((await readTextIfPresent(moved)) !== text) await tryLink(moved, folder.lockFile)
  await rm(moved, { force: true })
}

async function lockedError(folder: DataFolder, pid: number): Promise<LocalE2bError> {
  const server = await readServerFile(folder.root)
  const where = server?.pid === pid ? ` at ${server.url}` : ''
  return new LocalE2bError(
    'data_folder_locked',
    `Another local-e2b server (pid ${pid})${where} holds ${folder.root}: use that one (its address and key are in ${folder.serverFile}), stop it, or name another data folder.`,
  )
}
