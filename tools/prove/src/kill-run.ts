import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { execa } from 'execa'
import type { Interrupts } from './interrupts.ts'
import { createMomentWatch, type Moment, readPhaseLine } from './kill-moment.ts'
import type { Boundary } from './kill-table.ts'
import { ProveError } from './prove-error.ts'
import { readLedger } from './trial-facts.ts'

export interface KillableRun {
  readonly pid: number
  /** Takes every line of standard output from now on. */
  onLine(take: (line: string) => void): void
  readonly hasEnded: () => boolean
  /** Exit code; null after a signal. Never rejects. */
  readonly ended: Promise<number | null>
}

export interface KillableRunOptions {
  readonly command: readonly [string, ...string[]]
  readonly args: readonly string[]
  readonly logFile: string
  readonly interrupts: Interrupts
}

/** Starts `osworld run --json` so that its coordinator can be killed and its events be seen. */
export function startKillableRun({ command: [program, ...first], args, logFile, interrupts }: KillableRunOptions): KillableRun {
  const child = execa(program, [...first, 'run', '--json', ...args], {
    detached: true,
    cleanup: false,
    reject: false,
    buffer: false,
    stdin: 'ignore',
    stdout: ['pipe', { file: logFile }],
    stderr: { file: logFile },
  })
  if (child.pid === undefined) throw new ProveError('not_ready', `${program} could not be started.`)
  const stopForwarding = interrupts.forwardTo((name) => void child.kill(name))
  const takers: ((line: string) => void)[] = []
  let isOver = false
  const reading = (async () => {
    for await (const line of child.iterable({ from: 'stdout' })) for (const take of takers) take(line)
  })()
  const ended = (async () => {
    const { exitCode } = await child
    isOver = true
    stopForwarding()
    await reading.catch(() => undefined)
    return exitCode ?? null
  })()
  return { pid: child.pid, onLine: (take) => void takers.push(take), hasEnded: () => isOver, ended }
}

const lookEveryMs = 2

/** Waits for the boundary in the run's events and its ledger; undefined when the run ended without it. */
export async function untilMoment(run: KillableRun, runFolder: string, { boundary, trials }: { readonly boundary: Boundary; readonly trials: number }): Promise<Moment | undefined> {
  const watch = createMomentWatch(boundary, trials)
  let moment: Moment | undefined
  run.onLine((line) => {
    const event = readPhaseLine(line)
    if (event !== undefined) moment ??= watch(event)
  })
  for (let seen = 0, bytes = 0; moment === undefined; ) {
    const isLast = run.hasEnded()
    const size = await sizeOf(join(runFolder, 'attempts.jsonl'))
    if (size !== bytes) {
      const events = await readLedger(runFolder)
      for (const event of events.slice(seen)) moment ??= watch(event)
      seen = events.length
      bytes = size
    }
    if (moment === undefined && isLast) return undefined
    if (moment === undefined) await wait(lookEveryMs)
  }
  return moment
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0
}
