import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { prettyJson } from './canonical-json.ts'

export interface WriteJsonOptions {
  /** File mode bits, 0o644 unless said. */
  readonly mode?: number
}

/** Replaces `path` by the value as pretty JSON; a crash at any point leaves the old file or the new one, never a part. */
export async function writeJsonAtomic(path: string, value: unknown, options: WriteJsonOptions = {}): Promise<void> {
  await writeTextAtomic(path, prettyJson(value), options)
}

/** The same for a text. */
export async function writeTextAtomic(path: string, text: string, options: WriteJsonOptions = {}): Promise<void> {
  const folder = dirname(path)
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    await writeDurably(temporary, text, options.mode ?? 0o644)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(folder)
}

async function writeDurably(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The rename itself is durable only once the folder is on disk. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
