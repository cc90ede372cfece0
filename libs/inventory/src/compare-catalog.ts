import { join } from 'node:path'
import type { CatalogEntry } from '@osworld-e2b/contracts'
import { catalogFile } from './catalog.ts'
import { measureFile } from './digest.ts'
import { inOrder } from './in-order.ts'
import { type FolderEntry, walkFolder } from './walk.ts'

/** What became of one path of a folder or of its catalog; `bytes` is what was read. */
export type CatalogFinding =
  | { readonly kind: 'same'; readonly path: string; readonly bytes: number }
  | { readonly kind: 'changed'; readonly path: string; readonly bytes: number; readonly sha256: string; readonly entry: CatalogEntry }
  /** In the folder, and in no catalog. */
  | { readonly kind: 'uncatalogued'; readonly path: string }
  /** In the catalog, and not in the folder. */
  | { readonly kind: 'missing'; readonly path: string }
  /** A link, socket, pipe or device; never opened. */
  | { readonly kind: 'no_file'; readonly path: string; readonly is: Exclude<FolderEntry['kind'], 'file'> }
  | { readonly kind: 'unreadable'; readonly path: string; readonly problem: string }

/** Few, so that other work on the machine is not slowed down. */
const filesAtOnce = 4

/**
 * Compares a folder with its catalog: in the order of the folder's paths, then what is missing. Files are read as streams, a few at
 * a time, and links are not followed. Without a catalog (`undefined`) every file is `uncatalogued` and none is read.
 */
export async function* compareCatalog(folder: string, entries: readonly CatalogEntry[] | undefined): AsyncGenerator<CatalogFinding> {
  const expected = new Map(entries?.map((entry) => [entry.path, entry]))
  for await (const finding of inOrder(walkFolder(folder), filesAtOnce, (found) => look(folder, found, expected))) {
    expected.delete(finding.path)
    if (entries === undefined || finding.path !== catalogFile) yield finding
  }
  for (const path of expected.keys()) yield { kind: 'missing', path }
}

async function look(folder: string, { path, kind }: FolderEntry, expected: ReadonlyMap<string, CatalogEntry>): Promise<CatalogFinding> {
  if (kind !== 'file') return { kind: 'no_file', path, is: kind }
  const entry = expected.get(path)
  if (entry === undefined) return { kind: 'uncatalogued', path }
  try {
    const { bytes, sha256 } = await measureFile(join(folder, path))
    return bytes === entry.bytes && sha256 === entry.sha256 ? { kind: 'same', path, bytes } : { kind: 'changed', path, bytes, sha256, entry }
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return { kind: 'unreadable', path, problem: error.message }
    throw error
  }
}
