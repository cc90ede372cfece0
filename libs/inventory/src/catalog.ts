import { join } from 'node:path'
import type { CatalogEntry } from '@osworld-e2b/contracts'
import { measureFile } from './digest.ts'
import { walkFolder } from './walk.ts'

export const catalogFile = 'artifacts.json'

/** Every regular file of an attempt's folder in path order, without the catalog itself; links are not followed. */
export async function catalogArtifacts(folder: string): Promise<CatalogEntry[]> {
  const entries: CatalogEntry[] = []
  for await (const { path, kind } of walkFolder(folder)) {
    if (kind !== 'file' || path === catalogFile) continue
    entries.push({ path, ...(await measureFile(join(folder, path))) })
  }
  return entries
}
