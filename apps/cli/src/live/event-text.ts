import type { PauseReason } from '@osworld-e2b/contracts'
import type { AttemptIdentity, AttemptReport, CampaignEvent } from '@osworld-e2b/scheduler'
import { oneLine } from './one-line.ts'

/** One line on an event, without a full stop; undefined for what is not worth one. */
export function eventText(event: CampaignEvent): string | undefined {
  switch (event.type) {
    case 'attempt_started':
      return `${attemptName(event.identity)}: started`
    case 'attempt_phase':
      return `${attemptName(event.identity)}: ${event.phase}`
    case 'attempt_step':
      return undefined
    case 'attempt_ended':
      return `${attemptName(event.identity)}: ${endText(event.report)}`
    case 'run_paused':
      return `paused, nothing more is started for now: ${oneLine(event.message)}`
    case 'run_continued':
      return `goes on: ${overTexts[event.reason]}`
    case 'orphans_killed':
      return orphansText(event)
    case 'draining':
      return 'draining: what runs is finished, nothing more is started'
    case 'stopping':
      return 'stopping: what runs is ended'
  }
}

export function attemptName({ domain, id, trial, attempt }: Omit<AttemptIdentity, 'attemptDir'>): string {
  return `${domain}/${id}${trial > 1 ? ` trial ${trial}` : ''}${attempt > 1 ? ` attempt ${attempt}` : ''}`
}

const overTexts: Readonly<Record<PauseReason, string>> = {
  disk_full: 'there is room on the disk again',
  sandbox_creates_fail: 'sandboxes are asked for again',
  api_unreachable: 'the sandbox API answers again',
  model_unhealthy: 'the model answers again',
}

function endText({ outcome, seconds, steps }: AttemptReport): string {
  const what = outcome.kind === 'valid' ? `reward ${outcome.reward}` : `no score (${outcome.reason}): ${oneLine(outcome.message).replace(/\.$/, '')}`
  return `${what}, ${steps} ${steps === 1 ? 'step' : 'steps'}, ${seconds.toFixed(1)} s`
}

const whenTexts = { start: 'at the start', during: 'during the run', end: 'at the end' } as const

function orphansText({ when, orphans: { found, killed, remaining } }: Extract<CampaignEvent, { type: 'orphans_killed' }>): string | undefined {
  if (found === 0 && remaining === 0) return undefined
  const left = remaining === 0 ? '' : `, ${remaining} still there`
  return `sandboxes without an owner ${whenTexts[when]}: ${found} found, ${killed} killed${left}`
}
