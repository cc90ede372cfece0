import type { BuildProgress } from '@osworld-e2b/template'

export interface ProgressStream {
  readonly isTTY?: boolean
  write(text: string): unknown
}

export interface ProgressOptions {
  readonly stream: ProgressStream
  readonly verbose: boolean
  /** Milliseconds that only grow. */
  readonly now: () => number
  /** Calls `tick` every `periodMs` until the returned function is called. */
  readonly every: (periodMs: number, tick: () => void) => () => void
}

export interface ProgressPrinter {
  /** Begins a step of our own, such as starting the server. */
  step(name: string): void
  /** What the build tells. */
  build(progress: BuildProgress): void
  line(text: string): void
  /** Ends the last step and the ticking. */
  end(): void
}

const worthTellingMs = 2_000
const terminalPeriodMs = 1_000
/** A plain log shows that a step is alive, without drowning the rest. */
const plainPeriodMs = 15_000
const youngestToldMs = 10_000

/** Steps with their elapsed time: one line that counts up on a terminal, plain lines elsewhere. */
export function printProgress({ stream, verbose, now, every }: ProgressOptions): ProgressPrinter {
  const isTerminal = stream.isTTY === true
  let current: { readonly name: string; readonly startedMs: number } | undefined

  const elapsed = () => seconds(now() - (current?.startedMs ?? 0))
  const line = (text: string) => stream.write(isTerminal ? `\r\u001b[K${text}\n${counting()}` : `${text}\n`)
  const counting = () => (current === undefined ? '' : `${current.name} … ${elapsed()}`)
  const tick = () => {
    if (isTerminal) stream.write(`\r\u001b[K${counting()}`)
    else if (current !== undefined && now() - current.startedMs >= youngestToldMs) stream.write(`${current.name}: going on after ${elapsed()}\n`)
  }
  const endStep = () => {
    if (current === undefined) return
    const ended = now() - current.startedMs >= worthTellingMs ? `${current.name}: ${elapsed()}` : undefined
    const name = current.name
    current = undefined
    if (isTerminal) line(ended ?? name)
    else if (ended !== undefined) line(ended)
  }
  const step = (name: string) => {
    endStep()
    if (!isTerminal) line(name)
    current = { name, startedMs: now() }
    if (isTerminal) stream.write(counting())
  }
  const stopTicking = every(isTerminal ? terminalPeriodMs : plainPeriodMs, tick)
  return {
    step,
    line,
    build: (progress) => {
      if (progress.kind === 'step') step(`[${progress.index + 1}/${progress.total}] ${progress.name}`)
      else if (verbose || progress.level === 'warn' || progress.level === 'error') line(`  ${progress.message.trimEnd()}`)
    },
    end: () => {
      endStep()
      stopTicking()
    },
  }
}

function seconds(durationMs: number): string {
  const whole = Math.round(durationMs / 1000)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}
