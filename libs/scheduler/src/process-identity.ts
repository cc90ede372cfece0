import { readdir, readFile, readlink } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'

export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks since boot (`/proc/<pid>/stat` field 22, proc(5)): tells a reused number. */
  readonly start: string
}

/** Start time of a living process in clock ticks since boot; undefined when it is gone or only waits to be reaped. */
export async function processStart(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The command name may hold spaces and parentheses, so fields are counted from its last parenthesis: 3 is the state.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields === undefined || fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
}

/** Whether exactly that process, and not a later one with the same number, is alive. */
export async function isProcessAlive({ pid, start }: ProcessIdentity): Promise<boolean> {
  return (await processStart(pid)) === start
}

/** Living processes, other than this one, that have the text among their arguments. */
export async function processesNaming(text: string): Promise<readonly ProcessIdentity[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const found = await Promise.all(
    pids.map(async (pid) => {
      const commandLine = pid === process.pid ? '' : await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      const start = commandLine.includes(text) ? await processStart(pid) : undefined
      return start === undefined ? [] : [{ pid, start }]
    }),
  )
  return found.flat()
}

const pollMs = 20

/**
 * First process of the pid namespace that a child of `pid` makes; undefined when `pid` ends before it does. While it lives
 * the namespace does; once it has ended the kernel has ended every other process in there. (The namespace's own number
 * would prove nothing: it is used again.)
 */
export async function namespaceInit(pid: number): Promise<ProcessIdentity | undefined> {
  while ((await processStart(pid)) !== undefined) {
    const found = await childInOtherNamespace(pid)
    if (found !== undefined) return found
    await wait(pollMs)
  }
  return undefined
}

async function childInOtherNamespace(pid: number): Promise<ProcessIdentity | undefined> {
  const own = await readlink(`/proc/${pid}/ns/pid`).catch(() => undefined)
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  for (const child of children.split(' ').filter(Boolean).map(Number)) {
    const namespace = await readlink(`/proc/${child}/ns/pid`).catch(() => undefined)
    const start = await processStart(child)
    if (own !== undefined && namespace !== undefined && namespace !== own && start !== undefined) return { pid: child, start }
  }
  return undefined
}
