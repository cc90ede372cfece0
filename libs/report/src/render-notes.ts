import { counted, duration, moment } from './format.ts'
import { type Html, html, nothing } from './html.ts'
import type { LedgerModel, RunModel } from './run-model.ts'

/** What weakens the number stands right under it. */
export function notes(model: RunModel): Html {
  const { aggregate, ledger } = model
  const labels = (['simulated', 'unverified', 'unconfined', 'additions'] as const).filter((label) => aggregate[label] === true)
  const found = [
    ...(aggregate.complete ? [] : [notComplete(model)]),
    ...(labels.length === 0 ? [] : [html`<b>Labelled ${labels.join(', ')}</b>: do not compare this number with one that is not.`]),
    ...(ledger.tornBytes === 0 ? [] : [html`The ledger ends in an unfinished line of ${counted(ledger.tornBytes, 'byte')}, which was passed over.`]),
  ]
  return html`${found.map((note) => html`<p class="card note">${note}</p>`)}
${attempts(model)}`
}

function notComplete({ aggregate, ledger }: RunModel): Html {
  const missing = `${aggregate.remaining_tasks} of ${counted(aggregate.planned_tasks, 'task')} without a score`
  return html`<b>Not complete</b>: ${missing}, counted as 0 in the score. ${standOf(ledger)}`
}

function standOf({ isThere, ended }: LedgerModel): Html {
  if (!isThere) return html`There is no ledger (attempts.jsonl) yet: nothing was attempted, or a part of the folder is missing.`
  if (ended === undefined) return html`The run has not ended: it is going on, or it was killed.`
  return html`The run ended ${moment(ended.timestamp)} (${ended.reason}).`
}

function attempts({ aggregate }: RunModel): Html {
  const { planned_attempts: all, terminal_attempts: over, attempt_seconds: seconds } = aggregate
  if (all === 0) return nothing
  const open = all === over ? '' : `, ${all - over} not ended`
  const reasons = Object.entries(aggregate.invalid_by_reason).map(([reason, count]) => `${count} ${reason}`)
  const without = reasons.length === 0 ? '' : ` Attempts without a score: ${reasons.join(', ')}; a later attempt at the same trial may have one.`
  return html`<p class="soft">${counted(all, 'attempt')}${open}, ${duration(seconds)} of attempt time.${without}</p>`
}
