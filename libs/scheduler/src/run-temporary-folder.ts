import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isProcessAlive, processStart } from './process-identity.ts'

export interface TemporaryFolder {
  readonly path: string
  remove(): Promise<void>
}

const prefix = 'osworld-run-'

/**
 * A folder of this process below `parent`, readable by nobody else and short enough for socket paths. Named after its
 * owner, so that those of owners that were killed are known and removed now.
 */
export async function makeRunTemporaryFolder(parent: string, pid: number): Promise<TemporaryFolder> {
  await sweep(parent)
  const path = join(parent, `${prefix}${pid}-${(await processStart(pid)) ?? 'unknown'}`)
  await mkdir(path, { mode: 0o700 })
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

async function sweep(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, pid, start] = /^osworld-run-(\d+)-(\d+)$/.exec(name) ?? []
    if (pid === undefined || start === undefined) continue
    if (await isProcessAlive({ pid: Number(pid), start })) continue
    // Another account's folder stays: it is theirs to sweep.
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => undefined)
  }
}
