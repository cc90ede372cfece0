import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isProcessAlive } from './process-identity.ts'

/** A folder that a coordinator made for the time of its run; `osworld run` names it after itself. */
export interface RunTemporaryFolder {
  readonly path: string
  readonly pid: number
  readonly isOwnerAlive: boolean
}

/** The temporary folders of runs below `parent` that belong to the account `uid`; one that is a link is not a run's. */
export async function readRunTemporaryFolders(parent: string, uid: number): Promise<readonly RunTemporaryFolder[]> {
  const found: RunTemporaryFolder[] = []
  for (const name of await readdir(parent)) {
    const [, pid, start] = /^osworld-run-(\d+)-(\d+)$/.exec(name) ?? []
    if (pid === undefined || start === undefined) continue
    const path = join(parent, name)
    const stat = await lstat(path).catch(() => undefined)
    if (stat === undefined || !stat.isDirectory() || stat.uid !== uid) continue
    found.push({ path, pid: Number(pid), isOwnerAlive: await isProcessAlive({ pid: Number(pid), start }) })
  }
  return found
}
