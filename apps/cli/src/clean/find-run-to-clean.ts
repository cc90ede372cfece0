import { join, resolve } from 'node:path'
import { readRun, type RecordedRun } from '@osworld-e2b/scheduler'
import { UsageError } from '../usage-error.ts'

export interface RunToClean {
  readonly folder: string
  readonly run: RecordedRun
}

/** The run that a name in one of the results folders or the path of a run folder means; only a path has a slash or begins with a dot. */
export async function findRunToClean(named: string, results: readonly string[]): Promise<RunToClean> {
  const isPath = named.includes('/') || named.startsWith('.')
  const folders = isPath ? [resolve(named)] : results.map((folder) => join(folder, named))
  const found: RunToClean[] = []
  for (const folder of named === '' ? [] : folders) {
    const run = await readRun(folder)
    if (run !== undefined) found.push({ folder, run })
  }
  const [first, second] = found
  if (first === undefined) throw new UsageError(`--run: there is no run ${isPath ? `in ${resolve(named)}` : `"${named}" in ${results.join(' or ')}`}; give the name of a run with its --results, or the path of a run folder.`)
  if (second !== undefined) throw new UsageError(`--run: "${named}" is both ${first.folder} and ${second.folder}; give the path of the one that you mean.`)
  return first
}
