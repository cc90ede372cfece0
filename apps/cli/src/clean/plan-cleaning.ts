import { join } from 'node:path'
import type { CleaningKind } from '@osworld-e2b/contracts'
import { type DataFolderRemoval, planDataFolder } from '@osworld-e2b/local-e2b'
import type { SandboxSummary } from '@osworld-e2b/sandbox'
import type { RunTrace } from '@osworld-e2b/scheduler'
import type { EnvironmentFact } from '@osworld-e2b/upstream'
import type { CheckoutFact } from './checkouts.ts'
import type { CleaningFacts } from './cleaning-facts.ts'

/** Who removes a thing, and what that needs to know. */
export type RemovalWay =
  | { readonly by: 'server'; readonly sandboxId: string }
  | { readonly by: 'data folder'; readonly removal: DataFolderRemoval }
  /** A folder that is made under a lock file beside it. */
  | { readonly by: 'environment'; readonly environment: Pick<EnvironmentFact, 'folder' | 'lockFile'> }
  | { readonly by: 'folder'; readonly path: string }

export interface Removal {
  readonly kind: CleaningKind
  readonly name: string
  readonly reason: string
  /** Absolute; their sizes are the thing's. */
  readonly paths: readonly string[]
  readonly way: RemovalWay
}

export interface CleaningPlan {
  readonly removals: readonly Removal[]
  /** What is in use or may still be needed; the reason says by what. */
  readonly kept: readonly Removal[]
}

type Judged = Removal & { readonly isKept: boolean }

/** Decides what is stale. In doubt a thing is kept; `all` gives up doubts, but takes nothing from a living process. */
export function planCleaning(facts: CleaningFacts, { all }: { readonly all: boolean }): CleaningPlan {
  const judged = [
    ...facts.sandboxes.map((sandbox) => judgeSandbox(sandbox, facts, all)),
    ...judgeTemporaryFolders(facts),
    ...facts.environments.flatMap((environment) => judgeEnvironment(environment, facts)),
    ...facts.checkouts.map((checkout) => judgeCheckout(checkout, facts, all)),
    ...judgeDataFolder(facts, all),
  ]
  const withoutMark = (isKept: boolean) => judged.filter((one) => one.isKept === isKept).map(({ kind, name, reason, paths, way }) => ({ kind, name, reason, paths, way }))
  return { removals: withoutMark(false), kept: withoutMark(true) }
}

function judgeSandbox({ id, metadata }: SandboxSummary, facts: CleaningFacts, all: boolean): Judged {
  const sandbox = { kind: 'sandbox', name: id, paths: [join(facts.places.dataFolder, 'sandboxes', id)], way: { by: 'server', sandboxId: id } } as const
  const run = metadata['run'] ?? 'without a name'
  const named = facts.runs.filter(({ runId, runUid }) => runId === metadata['run'] || (runUid !== undefined && runUid === metadata['run_uid']))
  const living = named.find(({ lock }) => lock.kind === 'held')
  if (living !== undefined) return { ...sandbox, isKept: true, reason: `the run ${living.runId} is going on (${holderText(living)})` }
  if (named.some(({ runUid }) => runUid !== undefined && runUid === metadata['run_uid'])) return { ...sandbox, isKept: false, reason: `no process of its run ${run} lives` }
  if (!all) return { ...sandbox, isKept: true, reason: `its run ${run} is in none of the results folders that were looked at; name that folder with --results, or give --all` }
  const [stranger] = livingCoordinators(facts).unknown
  if (stranger === undefined) return { ...sandbox, isKept: false, reason: `its run ${run} is unknown and no unknown run is going on` }
  return { ...sandbox, isKept: true, reason: `its run ${run} is unknown and may be that of process ${stranger}, which lives; name its results folder with --results` }
}

function holderText({ lock }: RunTrace): string {
  return lock.kind === 'held' && lock.pid !== undefined ? `process ${lock.pid}` : 'its lock cannot be read'
}

/** Coordinators by their temporary folders and their locks; those that hold no lock that was looked at are unknown. */
function livingCoordinators({ runs, temporaryFolders }: CleaningFacts): { readonly any: boolean; readonly unknown: readonly number[] } {
  const holders = runs.filter(({ lock }) => lock.kind === 'held').map(({ lock }) => (lock.kind === 'held' ? lock.pid : undefined))
  const pids = temporaryFolders.filter(({ isOwnerAlive }) => isOwnerAlive).map(({ pid }) => pid)
  return { any: holders.length > 0 || pids.length > 0, unknown: pids.filter((pid) => !holders.includes(pid)) }
}

function judgeTemporaryFolders({ temporaryFolders, scratchFolders }: CleaningFacts): readonly Judged[] {
  const folder = (kind: CleaningKind, path: string) => ({ kind, name: path, paths: [path], way: { by: 'folder', path } as const })
  return [
    ...temporaryFolders.map(({ path, pid, isOwnerAlive }) => ({
      ...folder('run_temporary_folder', path),
      isKept: isOwnerAlive,
      reason: isOwnerAlive ? `the run of process ${pid} is going on` : `its process ${pid} is gone`,
    })),
    ...scratchFolders.map(({ path, maker, idleMs, longestLifeMs }) => ({
      ...folder('scratch_folder', path),
      isKept: idleMs < longestLifeMs,
      reason: idleMs < longestLifeMs ? `${maker} may still use it` : `left by ${maker}`,
    })),
  ]
}

function judgeEnvironment(environment: EnvironmentFact, facts: CleaningFacts): readonly Judged[] {
  const { digest, folder, lockFile, isThere, isWhole, isLocked } = environment
  const isCurrent = facts.currentEnvironments?.includes(digest) === true
  if (isCurrent && (isWhole || !isThere)) return []
  const item = { kind: isCurrent ? 'half_made' : 'python_environment', name: folder, paths: isThere ? [folder, lockFile] : [lockFile], way: { by: 'environment', environment } } as const
  if (isLocked) return [{ ...item, isKept: true, reason: 'it is being made' }]
  if (isCurrent) return [{ ...item, isKept: false, reason: 'its maker was ended half-way' }]
  if (livingCoordinators(facts).any) return [{ ...item, isKept: true, reason: 'a run is going on and may use it' }]
  return [{ ...item, isKept: false, reason: 'not of the present requirements and Python' }]
}

/** One that no profile here names may be of a profile file of the user's own. */
function judgeCheckout(checkout: CheckoutFact, facts: CleaningFacts, all: boolean): Judged {
  const { folder, lockFile, profile } = checkout
  const item = { kind: 'checkout', name: folder, paths: [folder], way: { by: 'environment', environment: { folder, lockFile } } } as const
  if (profile !== undefined) return { ...item, isKept: true, reason: `the profile ${profile} is made of it` }
  if (!all) return { ...item, isKept: true, reason: 'no profile of this osworld is made of it, but one of your own may be; give --all' }
  if (livingCoordinators(facts).any) return { ...item, isKept: true, reason: 'a run is going on and may use it' }
  return { ...item, isKept: false, reason: 'no profile of this osworld is made of it' }
}

function judgeDataFolder({ dataFolder, currentTemplate, runs }: CleaningFacts, all: boolean): readonly Judged[] {
  if (dataFolder === undefined) return []
  const plan = planDataFolder(dataFolder, { family: currentTemplate.replace(/[0-9a-f]+$/, ''), current: currentTemplate, wanted: wantedTemplates(runs), all })
  const judged = (removal: DataFolderRemoval, isKept: boolean): Judged => {
    const { kind, name, reason, paths } = removal
    return { kind, name, reason, paths: paths.map((path) => join(dataFolder.root, path)), way: { by: 'data folder', removal }, isKept }
  }
  return [...plan.removals.map((removal) => judged(removal, false)), ...plan.kept.map((removal) => judged(removal, true))]
}

function wantedTemplates(runs: readonly RunTrace[]): ReadonlyMap<string, string> {
  const unfinished = runs.filter(({ isComplete, template }) => !isComplete && template !== undefined)
  return new Map(unfinished.map(({ runId, template = '' }) => [template.replace(/:.*/, ''), `the unfinished run ${runId} goes on with it`]))
}
