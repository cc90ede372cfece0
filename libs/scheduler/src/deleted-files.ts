import { readdir, readFile, stat } from 'node:fs/promises'

/**
 * Disk space of files without a name that a process and its descendants hold open on the file system of `folder`: it is
 * taken until they end, and no folder shows it. Nothing for a process that is gone.
 */
export async function deletedOpenBytes(rootPid: number, folder: string): Promise<number> {
  const device = (await stat(folder).catch(() => undefined))?.dev
  const sizes = new Map<string, number>()
  for (const pid of await processTree(rootPid)) {
    for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const found = await stat(`/proc/${pid}/fd/${descriptor}`).catch(() => undefined)
      if (found?.isFile() === true && found.nlink === 0 && found.dev === device) sizes.set(`${found.dev}:${found.ino}`, found.blocks * 512)
    }
  }
  return [...sizes.values()].reduce((total, bytes) => total + bytes, 0)
}

/** A process and all that it started; an orphan belongs to the first process of its pid namespace. */
async function processTree(rootPid: number): Promise<number[]> {
  const found = [rootPid]
  for (const pid of found) {
    const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
    for (const thread of threads) {
      const children = await readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')
      found.push(...children.split(' ').filter(Boolean).map(Number))
    }
  }
  return found
}
