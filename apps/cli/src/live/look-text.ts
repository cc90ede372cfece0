import { basename, dirname } from 'node:path'
import { isPaid } from '@osworld-e2b/gates'
import type { RunModel } from '@osworld-e2b/report'
import { durationText } from '../run/pace.ts'
import { scoreLine } from '../run/result-table.ts'
import type { RunLook } from './look-at-run.ts'
import { renderView, type ViewOptions } from './render-view.ts'

export interface LookTextOptions extends ViewOptions {
  /** Where run folders are kept unless `--results` says otherwise. */
  readonly defaultRuns: string
}

/** What a person is told about a run: how it goes, or how it ended, and who runs it. */
export function lookText(look: RunLook, options: LookTextOptions): string {
  const { owner, status, model } = look
  if (model !== undefined && status.state === 'ended' && owner.standing === 'none') return endedText(look, model, options)
  const standing = owner.standing === 'gone' || owner.standing === 'none' ? 'abandoned' : look.source === 'owner' ? status.state : 'preparing'
  const sentence = ownerSentence(look, options)
  // Below the block stands one sentence, which a narrow terminal breaks.
  const rows = options.rows - 1 - Math.ceil(sentence.length / options.columns)
  return `${renderView(status, { ...options, rows, standing })}\n\n${sentence}`
}

/** Who runs it, and what to do when nobody does. */
export function ownerSentence({ runFolder, owner, status, source, model }: RunLook, { nowMs, defaultRuns }: Pick<LookTextOptions, 'nowMs' | 'defaultRuns'>): string {
  const said = source === 'owner' ? `its last word is ${durationText(Math.max(0, nowMs - Date.parse(status.updated_at)) / 1000)} old` : 'it has not said yet how it goes; this is what the ledger knows'
  const process = owner.lock === undefined ? '' : `process ${owner.lock.pid} on ${owner.lock.host}`
  switch (owner.standing) {
    case 'lives':
      return `It is run by ${process}; ${said}.`
    case 'elsewhere':
      return `It belongs to ${process}, and whether that lives cannot be seen from this host; ${said}.`
    case 'gone':
      return `Its coordinator, ${process}, is gone; this is what the ledger knows. Resume with: ${resumeCommand(runFolder, model, defaultRuns)}`
    case 'none':
      return `Its coordinator left without ending it; this is what the ledger knows. Resume with: ${resumeCommand(runFolder, model, defaultRuns)}`
  }
}

function endedText({ runFolder }: RunLook, model: RunModel, { nowMs, defaultRuns }: LookTextOptions): string {
  const { document, aggregate, ledger } = model
  const reason = ledger.ended === undefined ? '' : ` (${ledger.ended.reason}) ${durationText(Math.max(0, nowMs - Date.parse(ledger.ended.timestamp)) / 1000)} ago`
  const next = aggregate.complete ? [] : [`${aggregate.remaining_tasks} of its tasks have no score. Resume with: ${resumeCommand(runFolder, model, defaultRuns)}`]
  return [`${document.run_id}: ended${reason}`, scoreLine(aggregate), ...next].join('\n')
}

function resumeCommand(runFolder: string, model: RunModel | undefined, defaultRuns: string): string {
  const runs = dirname(runFolder)
  return [
    `npx osworld run --run-id ${shellWord(basename(runFolder))}`,
    ...(runs === defaultRuns ? [] : [`--results ${shellWord(runs)}`]),
    // What may cost money goes on only under the contract that authorizes it.
    ...(model !== undefined && isPaid(model.contract) ? ['--contract FILE'] : []),
  ].join(' ')
}

function shellWord(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
