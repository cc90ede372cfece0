import { readdir, readFile, readlink } from 'node:fs/promises'

/** Start time of a process in clock ticks since boot (`/proc/<pid>/stat` field 22, proc(5)); undefined when it is gone. */
export async function processStart(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The command name may hold spaces and parentheses, so fields are counted from its last parenthesis.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}

/** Whether exactly that process, and not a later one with the same number, is alive. */
export async function isProcessAlive(pid: number, start: string): Promise<boolean> {
  return (await processStart(pid)) === start
}

/** Identity of the pid namespace that a child of `pid` lives in, when it differs from `pid`'s own. */
export async function childPidNamespace(pid: number): Promise<string | undefined> {
  const own = await readlink(`/proc/${pid}/ns/pid`).catch(() => undefined)
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  for (const child of children.split(' ').filter(Boolean)) {
    const namespace = await readlink(`/proc/${child}/ns/pid`).catch(() => undefined)
    if (namespace !== undefined && namespace !== own) return namespace
  }
  return undefined
}

/** Host pids that live in the given pid namespace. */
export async function processesIn(namespace: string): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => ((await readlink(`/proc/${pid}/ns/pid`).catch(() => undefined)) === namespace ? Number(pid) : undefined)),
  )
  return found.filter((pid) => pid !== undefined)
}
