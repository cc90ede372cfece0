import { mkdir, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseJsonDocument, type Script, scriptSchema } from '@osworld-e2b/contracts'
import { writeJsonAtomic } from '@osworld-e2b/inventory'
import type { ProofPlaces, RunsProof } from './proof.ts'
import { ProveError } from './prove-error.ts'
import type { RunPlan } from './run-osworld.ts'

/** One at a time: a script that waits for a window must not be late because another desktop starts. */
const numEnvs = 1

export const osworldTasks: RunsProof = {
  name: 'osworld-tasks',
  claim: "OSWorld's own tasks of validation/oracles score 1 with their scripts and 0 when nothing is done, and the infeasible ones score 0 when they are called done.",
  plan,
}

async function plan({ checkout, results, environment }: ProofPlaces): Promise<readonly RunPlan[]> {
  const tasksFolder = environment.OSWORLD_TASKS_DIR
  if (tasksFolder === undefined || tasksFolder === '') {
    throw new ProveError('usage', "osworld-tasks needs OSWorld's task files; set OSWORLD_TASKS_DIR to the folder that holds evaluation_examples.")
  }
  const oracles = join(checkout, 'validation', 'oracles')
  const scripts = await readScripts(oracles)
  const infeasible = scripts.filter(isInfeasible)
  const answeredDone = join(results, 'answered-done')
  for (const { task } of infeasible) await writeScript(answeredDone, { schema_version: 1, task, actions: ['DONE'] })
  const run = (name: string, chosen: readonly Script[], args: readonly string[]) => ({
    name,
    numEnvs,
    args: ['--tasks', tasksFolder, ...chosen.flatMap(({ task }) => ['--task', `${task.domain}/${task.id}`]), ...args],
  })
  return [
    { ...run('oracle', scripts, ['--scripts', oracles]), expectedReward: 1 },
    { ...run('none', scripts, ['--agent', 'none']), expectedReward: 0 },
    { ...run('infeasible called done', infeasible, ['--scripts', answeredDone]), expectedReward: 0 },
  ]
}

/** A task that cannot be done is known by its script, which only says so. */
export function isInfeasible({ actions }: Script): boolean {
  return actions.length === 1 && actions[0] === 'FAIL'
}

/** All scripts below the folder, in the order of their names. */
export async function readScripts(folder: string): Promise<readonly Script[]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.json')).sort()
  return Promise.all(names.map(async (name) => parseJsonDocument(scriptSchema, name, await readFile(join(folder, name), 'utf8'))))
}

async function writeScript(folder: string, script: Script): Promise<void> {
  const path = join(folder, script.task.domain, `${script.task.id}.json`)
  await mkdir(dirname(path), { recursive: true })
  await writeJsonAtomic(path, script)
}
