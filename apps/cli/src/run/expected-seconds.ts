import { join, resolve } from 'node:path'
import type { RunState } from '@osworld-e2b/aggregation'
import { readRun, readRunState } from '@osworld-e2b/scheduler'
import { UsageError } from '../usage-error.ts'
import { workspace } from '../workspace.ts'

/** How long attempts at each task took in the run that `--order-by` names, by `domain/id`; undefined without the flag. */
export async function findExpectedSeconds(orderBy: string | undefined, results: string | undefined): Promise<ReadonlyMap<string, number> | undefined> {
  if (orderBy === undefined) return undefined
  const folder = orderBy.includes('/') ? resolve(orderBy) : join(resolve(results ?? workspace.runs), orderBy)
  if ((await readRun(folder)) === undefined) throw new UsageError(`--order-by: there is no run in ${folder}; give the name of a run in the results folder, or the path of a run folder.`)
  const seconds = expectedSeconds(await readRunState(folder))
  if (seconds.size === 0) throw new UsageError(`--order-by: the run in ${folder} has no valid attempt that tells how long its task takes; name another run, or leave it out.`)
  return seconds
}

/** Mean seconds of the valid attempts at each task; what failed tells nothing of how long success takes. */
export function expectedSeconds(state: RunState): ReadonlyMap<string, number> {
  const sums = new Map<string, { seconds: number; count: number }>()
  for (const { key, attempts } of state.values()) {
    for (const { state: end } of attempts) {
      if (end.phase !== 'terminal' || end.outcome.kind !== 'valid') continue
      const name = `${key.domain}/${key.id}`
      const { seconds, count } = sums.get(name) ?? { seconds: 0, count: 0 }
      sums.set(name, { seconds: seconds + end.seconds, count: count + 1 })
    }
  }
  return new Map([...sums].map(([name, { seconds, count }]) => [name, seconds / count]))
}
