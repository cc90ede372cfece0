import { stat } from 'node:fs/promises'
import path from 'node:path'
import { parseJsonDocument } from '@osworld-e2b/contracts'
import { writeJsonAtomic } from '@osworld-e2b/inventory'
import { z } from 'zod'
import type { DataFolder } from '../store/data-folder.ts'
import { hasSystemCode, readTextIfPresent } from '../store/read-file.ts'

const entrySchema = z.strictObject({
  schema_version: z.literal(1),
  id: z.string(),
  has_folder: z.boolean(),
  user: z.string(),
  workdir: z.string(),
  environment: z.record(z.string(), z.string()),
})

/** What a step left behind: a layer folder unless it changed no file, and the settings that hold from then on. */
export type LayerEntry = Omit<z.infer<typeof entrySchema>, 'schema_version'>

export interface LayerCache {
  /** The finished result for a key. A folder without its entry is half-made and does not count. */
  read(key: string): Promise<LayerEntry | undefined>
  /** Written last, after the folder is in place. */
  write(key: string, entry: LayerEntry): Promise<void>
  /** Folder of a layer, relative to the data folder and absolute. */
  relativeFolder(id: string): string
  folder(id: string): string
  /** Runs `work` with nobody else working on the same key. */
  alone<Result>(key: string, work: () => Promise<Result>): Promise<Result>
}

export function layerCache(folder: DataFolder): LayerCache {
  const busy = new Map<string, Promise<unknown>>()
  const entryFile = (key: string): string => path.join(folder.layers, `${key}.json`)
  const relativeFolder = (id: string): string => path.posix.join(path.relative(folder.root, folder.layers), id)
  const absoluteFolder = (id: string): string => path.join(folder.layers, id)
  return {
    relativeFolder,
    folder: absoluteFolder,
    async read(key) {
      const text = await readTextIfPresent(entryFile(key))
      if (text === undefined) return undefined
      const entry = parseJsonDocument(entrySchema, entryFile(key), text)
      return entry.has_folder && !(await folderExists(absoluteFolder(entry.id))) ? undefined : entry
    },
    write: (key, entry) => writeJsonAtomic(entryFile(key), { ...entry, schema_version: 1 }),
    async alone(key, work) {
      const before = busy.get(key) ?? Promise.resolve()
      const mine = before.then(work, work)
      busy.set(key, mine)
      try {
        return await mine
      } finally {
        if (busy.get(key) === mine) busy.delete(key)
      }
    },
  }
}

export async function folderExists(folder: string): Promise<boolean> {
  try {
    return (await stat(folder)).isDirectory()
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return false
    throw error
  }
}
