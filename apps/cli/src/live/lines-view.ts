import type { RunStatus } from '@osworld-e2b/contracts'
import { durationText, paceText } from '../run/pace.ts'
import type { CampaignEvent } from '@osworld-e2b/scheduler'
import { attemptName, eventText } from './event-text.ts'
import type { View, Viewed } from './view.ts'

export interface LinesViewOptions extends Viewed {
  readonly output: NodeJS.WritableStream
  /** Each phase of an attempt too. */
  readonly verbose: boolean
  /** After so long without a line one is written on what is running. */
  readonly quietMs?: number
}

/** Plain lines: what started, how it ended, how far the run is, and in a silence what is going on. */
export function linesView({ output, verbose, status, nowMs, quietMs = 20_000 }: LinesViewOptions): View {
  let lastLineMs = nowMs()
  const line = (text: string) => {
    lastLineMs = nowMs()
    output.write(`${text}\n`)
  }
  const look = setInterval(() => {
    if (nowMs() - lastLineMs < quietMs) return
    const { running, ...rest } = status()
    if (running.length > 0) line(`${runningText(running, nowMs())} ${paceText(rest)}`)
  }, quietMs / 4)
  look.unref()
  return {
    take: (event) => {
      const text = lineOf(event, verbose)
      if (text !== undefined) line(event.type === 'attempt_ended' ? `${text} ${paceText(status())}` : text)
    },
    line,
    end: () => undefined,
    dispose: () => clearInterval(look),
  }
}

/** The line that stays of an event; phases only when asked for. */
function lineOf(event: CampaignEvent, verbose: boolean): string | undefined {
  return event.type === 'attempt_phase' && !verbose ? undefined : eventText(event)
}

const namedAttempts = 4

function runningText(running: RunStatus['running'], nowMs: number): string {
  const parts = running.slice(0, namedAttempts).map((attempt) => {
    const { phase, step, started_at: startedAt } = attempt
    const stepText = phase === 'agent' ? `, step ${step}` : ''
    return `${attemptName(attempt)} (${phase ?? 'start'}${stepText}, ${durationText(Math.max(0, nowMs - Date.parse(startedAt)) / 1000)})`
  })
  const hidden = running.length - parts.length
  return `${running.length} running: ${parts.join(', ')}${hidden > 0 ? `, and ${hidden} more` : ''}`
}
