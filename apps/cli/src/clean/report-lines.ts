import type { CleaningKind, CleanReport } from '@osworld-e2b/contracts'
import { bytesText } from './bytes-text.ts'

const words: Readonly<Record<CleaningKind, string>> = {
  sandbox: 'sandbox',
  sandbox_folder: 'sandbox folder',
  run_temporary_folder: 'temporary folder',
  scratch_folder: 'temporary folder',
  half_made: 'half-made',
  template: 'template',
  layer: 'layer',
  base: 'base system',
  runtime: 'guest programs',
  python_environment: 'Python environment',
  checkout: 'checkout',
}

type Item = CleanReport['removed'][number]

/** One line a thing and the total, for a person. */
export function cleanReportLines(report: CleanReport): readonly string[] {
  const removed = report.dry_run ? 'would remove' : 'removed'
  const lines = [
    ...report.removed.map((item) => lineOf(removed, item)),
    ...report.failed.map((item) => lineOf('failed', { ...item, reason: `${item.reason}, but: ${item.problem}` })),
    ...report.kept.map((item) => lineOf('kept', item)),
  ]
  return [...lines, ...(report.run === undefined ? [] : runLines(report.run)), totalLine(report)]
}

function runLines({ run_id: runId, found, killed, remaining, note }: NonNullable<CleanReport['run']>): readonly string[] {
  return [...(note === undefined ? [] : [note]), `run ${runId}: ${found} ${found === 1 ? 'sandbox' : 'sandboxes'} found, ${killed} killed, ${remaining} remaining`]
}

function lineOf(what: string, { bytes, kind, name, reason }: Item): string {
  return `${what.padEnd(12)} ${(bytes === null ? '?' : bytesText(bytes)).padStart(8)}  ${words[kind]} ${name}: ${reason}`
}

function totalLine({ dry_run: dryRun, removed, failed, kept, removed_bytes: bytes }: CleanReport): string {
  const rest = [...(failed.length === 0 ? [] : [`${failed.length} could not be removed`]), ...(kept.length === 0 ? [] : [`${kept.length} kept`])]
  const what = removed.length === 0 ? `nothing ${dryRun ? 'to remove' : 'removed'}` : `${dryRun ? 'would free' : 'freed'} ${bytesText(bytes)} in ${removed.length} ${removed.length === 1 ? 'thing' : 'things'}`
  return `total: ${[what, ...rest].join('; ')}${dryRun && removed.length > 0 ? '; nothing was changed' : ''}`
}
