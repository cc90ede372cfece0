import { lstat, readdir } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { deletedOpenBytes } from './deleted-files.ts'

export interface WatchFolderOptions {
  readonly folder: string
  readonly limitBytes: number
  /** Pause before each measurement. */
  readonly everyMs: number
  /** Ends the watch. */
  readonly signal: AbortSignal
  /** Called once, then the watch ends; infinite bytes mean a place that cannot be looked into. */
  readonly onExceeded: (bytes: number) => void
  /** First process of those that write there: files that they deleted and hold open count too. */
  readonly rootPid?: number | undefined
}

export const defaultFolderLimitBytes = 4 * 1024 ** 3

/** What an entry counts at least, since a disk also runs out of places for empty files. */
const entryBytes = 4_096

const slash = Buffer.from('/')

/** Measures a folder again and again until it holds more than it may. Resolves at the end of the watch, never rejects. */
export async function watchFolder({ folder, limitBytes, everyMs, signal, onExceeded, rootPid }: WatchFolderOptions): Promise<void> {
  while (await pause(everyMs, signal)) {
    const inFolder = await folderBytes(folder, limitBytes)
    const bytes = inFolder > limitBytes || rootPid === undefined ? inFolder : inFolder + (await deletedOpenBytes(rootPid, folder))
    if (signal.aborted || bytes <= limitBytes) continue
    onExceeded(bytes)
    return
  }
}

/**
 * Disk space of everything below a folder; links are not followed, hard links count once. Stops soon after `enoughBytes`.
 * Infinite where something cannot be looked into (too deep, or locked): only a folder that hides something has such a place.
 */
export async function folderBytes(folder: string, enoughBytes: number): Promise<number> {
  const seen = new Set<string>()
  // Names are bytes: one that is no text could not be found again by its text.
  const folders = [Buffer.from(folder)]
  let total = 0
  for (let next = folders.pop(); next !== undefined && total <= enoughBytes; next = folders.pop()) {
    const entries = await unlessGone(() => readdir(next as Buffer, { withFileTypes: true, encoding: 'buffer' }))
    if (entries === 'unreadable') return Number.POSITIVE_INFINITY
    for (const entry of entries ?? []) {
      const path = Buffer.concat([next, slash, entry.name])
      if (entry.isDirectory()) folders.push(path)
      total += await entrySize(path, seen)
      if (total > enoughBytes) break
    }
  }
  return total
}

async function entrySize(path: Buffer, seen: Set<string>): Promise<number> {
  const found = await unlessGone(() => lstat(path))
  if (found === 'unreadable') return Number.POSITIVE_INFINITY
  if (found === undefined) return 0
  if (found.nlink > 1 && !found.isDirectory()) {
    const identity = `${found.dev}:${found.ino}`
    if (seen.has(identity)) return entryBytes
    seen.add(identity)
  }
  return Math.max(entryBytes, found.blocks * 512)
}

async function unlessGone<Value>(look: () => Promise<Value>): Promise<Value | 'unreadable' | undefined> {
  try {
    return await look()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'ENOENT' || code === 'ENOTDIR' ? undefined : 'unreadable'
  }
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return false
  await wait(milliseconds, undefined, { signal, ref: false }).catch(() => undefined)
  return !signal.aborted
}
