import type { CampaignEvent } from '@osworld-e2b/scheduler'

export interface Reporter {
  take(event: CampaignEvent): void
}

/** One JSON line an event on standard output, for programs. */
export function jsonReporter(output: NodeJS.WritableStream): Reporter {
  return { take: (event) => void output.write(`${JSON.stringify(event)}\n`) }
}

/** Plain lines for people: what started, what it is doing, how it ended, and how far the run is. */
export function lineReporter(output: NodeJS.WritableStream, plannedTrials: number): Reporter {
  let ended = 0
  const line = (text: string) => void output.write(`${text}\n`)
  return {
    take: (event) => {
      const { domain, id, trial, attempt } = event.identity
      const name = `${domain}/${id}${trial > 1 ? ` trial ${trial}` : ''}${attempt > 1 ? ` attempt ${attempt}` : ''}`
      if (event.type === 'attempt_started') line(`${name}: started`)
      if (event.type === 'attempt_phase') line(`${name}: ${event.phase}`)
      if (event.type !== 'attempt_ended') return
      const { outcome, seconds, steps } = event.report
      if (outcome.kind === 'valid') ended += 1
      const what = outcome.kind === 'valid' ? `reward ${outcome.reward}` : `no score (${outcome.reason}): ${outcome.message}`
      line(`${name}: ${what}, ${steps} steps, ${seconds.toFixed(1)} s [${ended}/${plannedTrials} scored]`)
    },
  }
}
