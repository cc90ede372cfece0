import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { compareCodePoints } from './code-points.ts'

export interface FolderEntry {
  /** Relative to the folder that was walked, with forward slashes. */
  readonly path: string
  readonly kind: 'file' | 'symbolic_link' | 'other'
}

/** Everything below `folder` but the folders themselves, ordered by path parts; links are named, not followed. */
export async function* walkFolder(folder: string, prefix = ''): AsyncGenerator<FolderEntry> {
  const entries = await readdir(join(folder, prefix), { withFileTypes: true })
  for (const entry of entries.sort((left, right) => compareCodePoints(left.name, right.name))) {
    const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`
    if (entry.isDirectory()) yield* walkFolder(folder, path)
    else yield { path, kind: kindOf(entry) }
  }
}

function kindOf(entry: Dirent): FolderEntry['kind'] {
  if (entry.isFile()) return 'file'
  return entry.isSymbolicLink() ? 'symbolic_link' : 'other'
}
