import type { Aggregate } from '@osworld-e2b/contracts'
import type { AttemptIdentity, AttemptReport, CampaignEvent } from '@osworld-e2b/scheduler'
import { durationText, type Pace, paceOf, paceText } from './pace.ts'

export interface Reporter {
  take(event: CampaignEvent): void
  /** Called once, after the last event. */
  end(runFolder: string, aggregate: Aggregate): void
  dispose(): void
}

/** One JSON line an event on standard output, for programs; the last one is `run_ended` with the aggregate. */
export function jsonReporter(output: NodeJS.WritableStream): Reporter {
  const write = (value: unknown) => void output.write(`${JSON.stringify(value)}\n`)
  return {
    take: write,
    end: (runFolder, aggregate) => write({ type: 'run_ended', run_folder: runFolder, aggregate }),
    dispose: () => undefined,
  }
}

export interface LineReporterOptions {
  readonly output: NodeJS.WritableStream
  readonly planned: number
  readonly scoredBefore: number
  /** Milliseconds on a clock that never goes back. */
  readonly nowMs: () => number
  readonly verbose: boolean
  /** After so long without a line one is written on what is running. */
  readonly quietMs?: number
}

interface Running {
  readonly startedMs: number
  phase: string
  steps: number
}

/** Plain lines for people: what started, how it ended, how far the run is, and in a silence what is going on. */
export function lineReporter(options: LineReporterOptions): Reporter {
  const { output, planned, scoredBefore, nowMs, quietMs = 20_000 } = options
  const startedMs = nowMs()
  const running = new Map<string, Running>()
  let scoredNow = 0
  let unscored = 0
  let lastLineMs = startedMs
  const pace = (): Pace => paceOf({ planned, scoredBefore, scoredNow, unscored, elapsedSeconds: (nowMs() - startedMs) / 1000 })
  const line = (text: string) => {
    lastLineMs = nowMs()
    output.write(`${text}\n`)
  }
  const look = setInterval(() => {
    if (running.size > 0 && nowMs() - lastLineMs >= quietMs) line(`${runningText(running, nowMs())} ${paceText(pace())}`)
  }, quietMs / 4)
  look.unref()
  return {
    take: (event) => {
      const name = nameOf(event.identity)
      const current = running.get(name)
      if (event.type === 'attempt_started') {
        running.set(name, { startedMs: nowMs(), phase: 'start', steps: 0 })
        line(`${name}: started`)
      } else if (event.type === 'attempt_phase') {
        if (current !== undefined) current.phase = event.phase
        if (options.verbose) line(`${name}: ${event.phase}`)
      } else if (event.type === 'attempt_step') {
        if (current !== undefined) current.steps = event.step
      } else {
        running.delete(name)
        if (event.report.outcome.kind === 'valid') scoredNow += 1
        else unscored += 1
        line(`${name}: ${endText(event.report)} ${paceText(pace())}`)
      }
    },
    end: () => undefined,
    dispose: () => clearInterval(look),
  }
}

function endText({ outcome, seconds, steps }: AttemptReport): string {
  const what = outcome.kind === 'valid' ? `reward ${outcome.reward}` : `no score (${outcome.reason}): ${outcome.message}`
  return `${what}, ${steps} ${steps === 1 ? 'step' : 'steps'}, ${seconds.toFixed(1)} s`
}

function runningText(running: ReadonlyMap<string, Running>, nowMs: number): string {
  const parts = [...running].map(([name, { startedMs, phase, steps }]) => {
    const step = phase === 'agent' ? `, step ${steps}` : ''
    return `${name} (${phase}${step}, ${durationText((nowMs - startedMs) / 1000)})`
  })
  const named = parts.slice(0, 4)
  return `${running.size} running: ${named.join(', ')}${parts.length > named.length ? `, and ${parts.length - named.length} more` : ''}`
}

function nameOf({ domain, id, trial, attempt }: AttemptIdentity): string {
  return `${domain}/${id}${trial > 1 ? ` trial ${trial}` : ''}${attempt > 1 ? ` attempt ${attempt}` : ''}`
}
