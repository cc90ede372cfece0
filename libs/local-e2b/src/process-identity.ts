import { readFile } from 'node:fs/promises'

/** A process id alone may be used again; with the start time it names one process. */
export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks after boot: field 22 of `/proc/<pid>/stat` (proc(5)). */
  readonly startTime: string
}

/** Identity of a living process, or undefined when there is none (a zombie is none). */
export async function readProcessIdentity(pid: number): Promise<ProcessIdentity | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  // The command name in parentheses may hold anything, so fields are counted after its end.
  const [state, ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const startTime = fields[18]
  return startTime === undefined || state === 'Z' || state === 'X' ? undefined : { pid, startTime }
}

/** Whether this very process still runs; its id may be another's by now. */
export async function isLiving({ pid, startTime }: ProcessIdentity): Promise<boolean> {
  return (await readProcessIdentity(pid))?.startTime === startTime
}
