import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** A folder in the system's temporary folder that its maker removes unless it is killed; its name tells the maker, not the process. */
export interface ScratchFolder {
  readonly path: string
  readonly maker: string
  readonly idleMs: number
  /** Longer than the maker can live. */
  readonly longestLifeMs: number
}

const hourMs = 3_600_000

const makers: readonly (readonly [prefix: string, maker: string, longestLifeMs: number])[] = [
  ['local-e2b-bundle-', 'a test of the local server', hourMs],
  ['namespace-trial-', 'a look at what this machine can do', hourMs],
  ['osworld-template-', 'a template build', 24 * hourMs],
]

/** The scratch folders below `parent` that belong to the account `uid`; links are not folders. */
export async function readScratchFolders(parent: string, { uid, nowMs }: { readonly uid: number; readonly nowMs: number }): Promise<readonly ScratchFolder[]> {
  const found: ScratchFolder[] = []
  for (const name of await readdir(parent)) {
    const made = makers.find(([prefix]) => name.startsWith(prefix) && /^[A-Za-z0-9_-]{6}$/.test(name.slice(prefix.length)))
    if (made === undefined) continue
    const path = join(parent, name)
    const stat = await lstat(path).catch(() => undefined)
    if (stat === undefined || !stat.isDirectory() || stat.uid !== uid) continue
    const [, maker, longestLifeMs] = made
    found.push({ path, maker, idleMs: nowMs - stat.mtimeMs, longestLifeMs })
  }
  return found
}
