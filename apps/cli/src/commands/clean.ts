import { stat } from 'node:fs/promises'
import { type CleanReport, cleanReportSchema, parseDocument } from '@osworld-e2b/contracts'
import { type FolderCare, holdDataFolder, openFolderCare, readServing } from '@osworld-e2b/local-e2b'
import { type CleanArguments, type Places, placesOf } from '../clean/arguments.ts'
import { cleanRun } from '../clean/clean-run.ts'
import { factsContext, gatherCleaningFacts, ownAccount, pythonIfAny } from '../clean/cleaning-facts.ts'
import { planCleaning, type Removal } from '../clean/plan-cleaning.ts'
import { remove, type RemovalContext } from '../clean/remove.ts'
import { pathsOf, sizeOf, sumOf } from '../clean/sizes.ts'
import { cleanReportLines } from '../clean/report-lines.ts'
import { exitCode, type ExitCode } from '../exit-code.ts'
import type { Console } from './run.ts'

/** `osworld clean`: removes what nothing uses any more, or says what it would remove; 1 when something could not be removed. */
export async function clean(given: CleanArguments, { environment, stdout }: Pick<Console, 'environment' | 'stdout'>): Promise<ExitCode> {
  const report = given.run === undefined ? await cleanStale(given, environment) : await cleanRun({ ...given, run: given.run }, environment)
  stdout.write(given.json === true ? `${JSON.stringify(report)}\n` : `${cleanReportLines(report).join('\n')}\n`)
  return report.failed.length === 0 ? exitCode.complete : exitCode.incomplete
}

async function cleanStale(given: CleanArguments, environment: NodeJS.ProcessEnv): Promise<CleanReport> {
  const places = placesOf(given, environment)
  const care = await openFolderCare({ dataFolder: places.dataFolder, account: ownAccount(), environment })
  try {
    return given.dryRun === true ? await cleanNow(given, places, { care, environment }) : await cleanHeld(given, places, { care, environment })
  } finally {
    await care.close()
  }
}

interface Means {
  readonly care: FolderCare
  readonly environment: NodeJS.ProcessEnv
}

/** No server starts on the data folder meanwhile; one that runs already keeps it, and then nothing in it is touched. */
async function cleanHeld(given: CleanArguments, places: Places, means: Means): Promise<CleanReport> {
  const isThere = (await stat(places.dataFolder).catch(() => undefined))?.isDirectory() === true
  const isFree = isThere && (await readServing(places.dataFolder)).kind === 'nobody'
  const release = isFree ? await holdDataFolder(places.dataFolder, process.pid) : undefined
  try {
    return await cleanNow(given, places, means)
  } finally {
    await release?.()
  }
}

async function cleanNow(given: CleanArguments, places: Places, { care, environment }: Means): Promise<CleanReport> {
  const python = await pythonIfAny(environment)
  const facts = await gatherCleaningFacts(places, factsContext(environment, python))
  const plan = planCleaning(facts, { all: given.all === true })
  const sizes = await care.measure(pathsOf([...plan.removals, ...plan.kept]))
  const itemOf = (removal: Removal): Item => ({ kind: removal.kind, name: removal.name, bytes: sizeOf(removal, sizes), reason: removal.reason })
  const context = { dataFolder: places.dataFolder, care, python }
  const done = given.dryRun === true ? { removed: plan.removals.map(itemOf), failed: [] } : await removeAll(plan.removals, itemOf, context)
  return parseDocument(cleanReportSchema, 'the report', {
    schema_version: 1,
    dry_run: given.dryRun === true,
    ...done,
    kept: plan.kept.map(itemOf),
    removed_bytes: sumOf(done.removed),
  })
}

type Item = CleanReport['removed'][number]

async function removeAll(removals: readonly Removal[], itemOf: (removal: Removal) => Item, context: RemovalContext): Promise<Pick<CleanReport, 'removed' | 'failed'>> {
  const removed: CleanReport['removed'] = []
  const failed: CleanReport['failed'] = []
  for (const removal of removals) {
    try {
      await remove(removal, context)
      removed.push(itemOf(removal))
    } catch (error) {
      failed.push({ ...itemOf(removal), problem: error instanceof Error ? error.message : String(error) })
    }
  }
  return { removed, failed }
}
