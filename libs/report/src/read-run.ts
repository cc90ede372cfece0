import { join } from 'node:path'
import { aggregate, type AttemptRecord, type RunState, trialId, trialReward } from '@osworld-e2b/aggregation'
import type { ScoringIdentity, TaskKey } from '@osworld-e2b/contracts'
import { isFolder, namesIn } from './files.ts'
import { lastScreenshot } from './last-screenshot.ts'
import { readDocuments } from './read-documents.ts'
import { readInstruction } from './read-instruction.ts'
import { readLedger } from './read-ledger.ts'
import type { AttemptEnd, AttemptModel, RunModel, ScreenshotModel, TrialModel } from './run-model.ts'
import { failedFirst } from './standing.ts'

export interface ReadRunOptions {
  readonly runFolder: string
  readonly now: Date
}

/** Reads a run folder, whether the run has ended or not, and changes nothing in it; throws `ReportError`. */
export async function readRun({ runFolder, now }: ReadRunOptions): Promise<RunModel> {
  const { document, contract } = await readDocuments(runFolder)
  const { state, totals, ledger } = await readLedger(join(runFolder, 'attempts.jsonl'))
  const { tasks, trials } = contract.scoring
  return {
    document,
    contract,
    aggregate: aggregate({
      runId: document.run_id,
      tasks: tasks.map(({ domain, id }) => ({ domain, id })),
      trials,
      state,
      totals,
      updatedAt: now.toISOString(),
      labels: { unconfined: document.unconfined, unverified: document.unverified },
    }),
    ledger,
    trials: (await readTasks(runFolder, contract.scoring, state)).sort(failedFirst),
  }
}

/** Tasks one after another: their number is not bounded, and that of open files is. */
async function readTasks(runFolder: string, { tasks, trials }: ScoringIdentity, state: RunState): Promise<TrialModel[]> {
  const models: TrialModel[] = []
  for (const task of tasks) models.push(...(await readTask(runFolder, { ...task, trials }, state)))
  return models
}

type PlannedTask = TaskKey & { readonly task_sha256: string; readonly trials: number }

async function readTask(runFolder: string, task: PlannedTask, state: RunState): Promise<readonly TrialModel[]> {
  const { domain, id } = task
  const records = Array.from({ length: task.trials }, (_, index) => state.get(trialId({ domain, id, trial: index + 1 })))
  const latest = records.findLast((record) => record !== undefined)?.attempts.at(-1)
  const instruction = latest && (await readInstruction(join(runFolder, latest.attemptDir), task.task_sha256))
  const models: TrialModel[] = []
  for (const [index, record] of records.entries()) {
    const attempts = await Promise.all((record?.attempts ?? []).map((attempt) => readAttempt(runFolder, attempt)))
    models.push({ domain, id, trial: index + 1, reward: trialReward(record), instruction, attempts })
  }
  return models
}

async function readAttempt(runFolder: string, { attempt, attemptDir, state }: AttemptRecord): Promise<AttemptModel> {
  return {
    attempt,
    folder: attemptDir,
    isFolderThere: await isFolder(join(runFolder, attemptDir)),
    end: endOf(state),
    screenshot: await readScreenshot(runFolder, attemptDir),
  }
}

function endOf(state: AttemptRecord['state']): AttemptEnd | undefined {
  if (state.phase !== 'terminal') return undefined
  const { outcome, seconds, steps, cleanup } = state
  return { outcome, seconds, steps, isCleanupFailed: cleanup === 'failed' }
}

async function readScreenshot(runFolder: string, attemptDir: string): Promise<ScreenshotModel | undefined> {
  const last = lastScreenshot(await namesIn(join(runFolder, attemptDir, 'screenshots')))
  return last && { path: `${attemptDir}/screenshots/${last.name}`, moment: last.moment }
}
