import { join, resolve } from 'node:path'
import { isFolder, namesIn } from './files.ts'
import { ReportError } from './report-error.ts'

export interface FindRunOptions {
  /** A run's name, or the path of a run folder; only a path has a slash or begins with a dot. */
  readonly run: string
  /** Where run folders are kept. */
  readonly runsFolder: string
}

/** The folder that `run` means; throws `run_not_found`, and then names a few runs that are there. */
export async function findRun({ run, runsFolder }: FindRunOptions): Promise<string> {
  const isPath = run.includes('/') || run.startsWith('.')
  const folder = isPath ? resolve(run) : join(runsFolder, run)
  if (run !== '' && (isPath || (await isFolder(folder)))) return folder
  throw new ReportError('run_not_found', `There is no run "${run}" in ${runsFolder}${someOf(await namesIn(runsFolder))}; give the name of a run there, or the path of a run folder.`)
}

/** The names that sort last, which are the newest of the runs that were not named by hand. */
function someOf(names: readonly string[]): string {
  const shown = [...names].filter((name) => !name.startsWith('.')).sort().slice(-3)
  if (shown.length === 0) return ', which holds none'
  return `, which holds ${names.length > shown.length ? `${names.length} runs, among them ` : ''}${shown.join(', ')}`
}
