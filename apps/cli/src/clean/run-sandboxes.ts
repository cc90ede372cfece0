import type { CleanReport } from '@osworld-e2b/contracts'
import { connectSandboxes, type KillReport, type Sandboxes, type SandboxTimings } from '@osworld-e2b/sandbox'
import type { RecordedRun } from '@osworld-e2b/scheduler'
import { UsageError } from '../usage-error.ts'
import type { RunRoute } from './run-route.ts'

type RunSandboxes = Pick<CleanReport, 'removed' | 'failed'> & { readonly run: NonNullable<CleanReport['run']> }

export interface SandboxCleaning {
  readonly isDryRun: boolean
  readonly timings?: Partial<SandboxTimings>
}

/** Kills all sandboxes that carry the run's own mark and lists them again; a dry run only lists them. */
export async function cleanSandboxes({ document, contract }: RecordedRun, route: RunRoute, { isDryRun, timings }: SandboxCleaning): Promise<RunSandboxes> {
  const run = { run_id: document.run_id, route: contract.operation.route.kind }
  if ('nothingLeft' in route) return { removed: [], failed: [], run: { ...run, found: 0, killed: 0, remaining: 0, note: route.nothingLeft } }
  // Not by its name, which another run may have too.
  const metadata = { workload: 'osworld-e2b', run_uid: document.run_uid }
  const { found, killed, remaining } = await look(connectSandboxes(route.connection, timings), metadata, { isDryRun, runId: document.run_id })
  const itemOf = (id: string) => ({ kind: 'sandbox' as const, name: id, bytes: null, reason: `no process of its run ${document.run_id} lives` })
  return {
    removed: (isDryRun ? remaining : killed).map(itemOf),
    failed: isDryRun ? [] : remaining.map((id) => ({ ...itemOf(id), problem: 'the API still lists it' })),
    run: { ...run, found: found.length, killed: killed.length, remaining: remaining.length },
  }
}

async function look(sandboxes: Sandboxes, metadata: Readonly<Record<string, string>>, { isDryRun, runId }: { readonly isDryRun: boolean; readonly runId: string }): Promise<KillReport> {
  try {
    if (!isDryRun) return await sandboxes.killMatching(metadata)
    const ids = (await sandboxes.list(metadata)).map(({ id }) => id)
    return { found: ids, killed: [], remaining: ids }
  } catch (error) {
    throw new UsageError(`The sandboxes of the run ${runId} cannot be listed: ${sandboxes.explain(error)}; mend that and give the command again.`, { cause: error })
  }
}
