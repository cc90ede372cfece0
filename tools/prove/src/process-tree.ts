import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'

export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  /** Clock ticks since boot: tells a number that is used again (proc(5), field 22 of `stat`). */
  readonly start: string
  readonly args: readonly string[]
}

/** Every process that is alive now; one that only waits to be reaped is not. */
export async function readProcesses(): Promise<readonly ProcessEntry[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const entries = await Promise.all(names.map((name) => readProcess(Number(name))))
  return entries.filter((entry) => entry !== undefined)
}

/** The process as it is now; undefined when it is gone. */
export async function readProcess(pid: number): Promise<ProcessEntry | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
  // The command's name may hold spaces and parentheses, so fields are counted from the last one: 3 is the state.
  const [state, parent, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const start = rest[17]
  if (start === undefined || state === 'Z' || state === 'X') return undefined
  return { pid, parent: Number(parent), start, args: commandLine.split('\0').filter(Boolean) }
}

/** Everything below a process, children before their children. */
export function descendantsOf(pid: number, processes: readonly ProcessEntry[]): readonly ProcessEntry[] {
  const children = processes.filter(({ parent }) => parent === pid)
  return [...children, ...children.flatMap((child) => descendantsOf(child.pid, processes))]
}

export function childrenOf(pid: number, processes: readonly ProcessEntry[]): readonly ProcessEntry[] {
  return processes.filter(({ parent }) => parent === pid)
}

/** What the process has open, as paths; those of another account are not shown. */
export async function openFilesOf(pid: number): Promise<readonly string[]> {
  const folder = `/proc/${pid}/fd`
  const names = await readdir(folder).catch(() => [])
  return Promise.all(names.map((name) => readlink(join(folder, name)).catch(() => '')))
}

export function workingFolderOf(pid: number): Promise<string> {
  return readlink(`/proc/${pid}/cwd`).catch(() => '')
}

/** Its number inside its innermost pid namespace, and how deep that is (`NSpid` in proc(5)). */
export async function namespacePids(pid: number): Promise<readonly number[]> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  const line = /^NSpid:\s*(.*)$/m.exec(status)?.[1] ?? ''
  return line.split(/\s+/).filter(Boolean).map(Number)
}
