import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { loadProfiles } from '@osworld-e2b/inventory'
import { isAbsent } from '../verify/is-absent.ts'

/** A pinned source that was fetched into the cache folder, named by its commit. */
export interface CheckoutFact {
  readonly folder: string
  readonly lockFile: string
  /** That is made of it, of those that come with this osworld. */
  readonly profile: string | undefined
}

export async function readCheckouts(cacheFolder: string, profilesFile: string): Promise<readonly CheckoutFact[]> {
  const parent = join(cacheFolder, 'osworld-source')
  const entries = await readdir(parent, { withFileTypes: true }).catch((error: unknown) => {
    if (isAbsent(error)) return []
    throw error
  })
  const commits = entries.filter((entry) => entry.isDirectory() && /^[0-9a-f]{40}$/.test(entry.name)).map(({ name }) => name)
  if (commits.length === 0) return []
  const { profiles } = await loadProfiles(profilesFile)
  return commits.sort().map((commit) => {
    const folder = join(parent, commit)
    const profile = Object.entries(profiles).find(([, pinned]) => pinned.commit === commit)?.[0]
    return { folder, lockFile: `${folder}.lock`, profile }
  })
}
