import { join, resolve } from 'node:path'
import { type RunState, trialId, trialReward } from '@osworld-e2b/aggregation'
import type { Contract } from '@osworld-e2b/contracts'
import { readRun, readRunState } from '@osworld-e2b/scheduler'
import { UsageError } from '../usage-error.ts'
import { workspace } from '../workspace.ts'
import type { RunArguments } from './arguments.ts'

/** What an earlier run was made with; it fills in what the user did not type. */
export interface Recorded {
  readonly contract: Contract
  /** `domain/id` of the tasks to run. */
  readonly tasks: readonly string[]
  /** Whether that very run goes on, so that its template must stay too. */
  readonly isResumed: boolean
}

/** The run that `--failed-of` or an existing `--run-id` names; undefined for a new run. */
export async function findRecorded({ failedOf, runId, results }: RunArguments): Promise<Recorded | undefined> {
  const runs = resolve(results ?? workspace.runs)
  if (failedOf !== undefined) return failedTasks(failedOf.includes('/') ? resolve(failedOf) : join(runs, failedOf))
  if (runId === undefined || runId === '') return undefined
  const run = await readRun(join(runs, runId))
  return run && { contract: run.contract, tasks: run.contract.scoring.tasks.map(nameOf), isResumed: true }
}

async function failedTasks(folder: string): Promise<Recorded> {
  const run = await readRun(folder)
  if (run === undefined) throw new UsageError(`--failed-of: there is no run in ${folder}; give the name of a run in the results folder, or the path of a run folder.`)
  const { scoring } = run.contract
  const state = await readRunState(folder)
  const tasks = scoring.tasks.filter((task) => !isSolved(task, scoring.trials, state)).map(nameOf)
  if (tasks.length === 0) throw new UsageError(`--failed-of: every task of the run in ${folder} reached 1, so there is nothing to run again.`)
  return { contract: run.contract, tasks, isResumed: false }
}

/** Solved is a task whose every trial has the full reward. */
function isSolved(task: Named, trials: number, state: RunState): boolean {
  return Array.from({ length: trials }, (_, index) => trialReward(state.get(trialId({ ...task, trial: index + 1 })))).every((reward) => reward === 1)
}

interface Named {
  readonly domain: string
  readonly id: string
}

function nameOf({ domain, id }: Named): string {
  return `${domain}/${id}`
}
