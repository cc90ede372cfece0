import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CleanReport, cleanReportSchema, parseDocument } from '@osworld-e2b/contracts'
import { acquireRunLock, type RecordedRun } from '@osworld-e2b/scheduler'
import { UsageError } from '../usage-error.ts'
import { ownerOf } from '../verify/run-lock.ts'
import { type CleanArguments, placesOf } from './arguments.ts'
import { ownAccount } from './cleaning-facts.ts'
import { findRunToClean } from './find-run-to-clean.ts'
import { removeFolder } from './remove.ts'
import { routeOf } from './run-route.ts'
import { cleanSandboxes } from './run-sandboxes.ts'
import { temporaryFoldersOf } from './run-temporary-folders.ts'

type Done = Pick<CleanReport, 'removed' | 'failed'>

/** `osworld clean --run`: ends what a run without an owner has left, on whatever route it ran. Its results stay as they are. */
export async function cleanRun(given: CleanArguments & { readonly run: string }, environment: NodeJS.ProcessEnv): Promise<CleanReport> {
  if (given.all === true) throw new UsageError('--all is for everything that is stale and --run for one run; give one of them.')
  const places = placesOf(given, environment)
  const { folder, run } = await findRunToClean(given.run, places.results)
  await refuseOwner(folder, run)
  // Nobody resumes the run while its sandboxes are killed: they would be the new owner's.
  const lock = given.dryRun === true ? undefined : await acquireRunLock(join(folder, 'run.lock'), { pid: process.pid, now: new Date() })
  try {
    const route = await routeOf(run, { dataFolder: places.dataFolder, environment })
    const sandboxes = await cleanSandboxes(run, route, { isDryRun: given.dryRun === true })
    const folders = await cleanFolders(folder, given.dryRun === true, environment)
    return parseDocument(cleanReportSchema, 'the report', {
      schema_version: 1,
      dry_run: given.dryRun === true,
      removed: [...sandboxes.removed, ...folders.removed],
      kept: [],
      failed: [...sandboxes.failed, ...folders.failed],
      removed_bytes: 0,
      run: sandboxes.run,
    })
  } finally {
    await lock?.release()
  }
}

async function refuseOwner(folder: string, { document: { run_id: runId } }: RecordedRun): Promise<void> {
  const owner = await ownerOf(folder)
  if (owner === undefined) return
  throw new UsageError(`The run ${runId} belongs to process ${owner.pid} on ${owner.host} since ${owner.acquired_at}, which cleans up after itself: stop that process first; if its machine is gone, remove ${join(folder, 'run.lock')}.`)
}

async function cleanFolders(runFolder: string, isDryRun: boolean, environment: NodeJS.ProcessEnv): Promise<Done> {
  const done: { removed: Done['removed']; failed: Done['failed'] } = { removed: [], failed: [] }
  for (const { path, pid } of await temporaryFoldersOf(runFolder, { parent: environment['TMPDIR'] ?? tmpdir(), uid: ownAccount().uid })) {
    const item = { kind: 'run_temporary_folder' as const, name: path, bytes: null, reason: `its process ${pid} is gone` }
    try {
      if (!isDryRun) await removeFolder(path)
      done.removed.push(item)
    } catch (error) {
      done.failed.push({ ...item, problem: error instanceof Error ? error.message : String(error) })
    }
  }
  return done
}
