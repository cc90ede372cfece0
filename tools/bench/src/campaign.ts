import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { aggregateSchema } from '@osworld-e2b/contracts'
import { attachLocalE2b } from '@osworld-e2b/local-e2b'
import { findTemplate, loadRecipe } from '@osworld-e2b/template'
import { ensurePythonEnvironment, findPython, loadScript, loadTasks } from '@osworld-e2b/upstream'
import { cacheFolder, checkout } from './checkout.ts'
import type { Figure } from './figures.ts'
import { type PlainJob, runPlainLoop } from './plain-loop.ts'

const suite = join(checkout, 'validation', 'starter')
const profileFolder = join(checkout, 'upstream-patches', 'profiles', 'package-1.0.2')
const progress = (text: string) => void process.stderr.write(`${text}\n`)

/** The starter suite by `osworld run --num-envs 2`, and by a plain loop with upstream's fixed waits; the first `count` tasks of it. */
export async function benchCampaign(count?: number): Promise<readonly Figure[]> {
  const dataFolder = join(cacheFolder, 'local-e2b')
  const server = await attachLocalE2b({
    dataFolder,
    serverCommand: [process.execPath, join(checkout, 'apps', 'local-e2b-bin', 'dist', 'main.js'), 'serve', '--data', dataFolder, '--die-with-parent'],
    environment: { PATH: process.env.PATH ?? '' },
  })
  try {
    const template = await findTemplate({ recipe: await loadRecipe(join(checkout, 'libs', 'template'), 'debian-12'), connection: server.connection })
    if (template === undefined) throw new Error('The desktop template is not built yet; run `npm start` once.')
    const python = await findPython({ environment: process.env })
    const environment = await ensurePythonEnvironment({ cacheFolder, python, requirementsFile: join(profileFolder, 'requirements.txt'), environment: process.env })
    const jobs = (await plainJobs()).slice(0, count)
    const ours = await timed(() => runOurs(jobs))
    progress(`osworld run --num-envs 2: ${jobs.length} tasks in ${ours.toFixed(1)} s`)
    const plain = await timed(async () => {
      const rewards = await runPlainLoop({ connection: server.connection, template, python: environment.python, profileFolder, jobs, onLine: progress })
      const unsolved = jobs.filter(({ id }) => rewards.get(id) !== 1)
      if (unsolved.length > 0) progress(`plain loop: not solved by its clock: ${unsolved.map(({ id }) => id).join(', ')}`)
    })
    return [
      { name: `${jobs.length} tasks by osworld run --num-envs 2`, unit: 's', samples: [ours] },
      { name: `${jobs.length} tasks by a plain loop with fixed waits`, unit: 's', samples: [plain] },
      { name: 'osworld run as a share of the plain loop', unit: 'of its time', samples: [ours / plain], target: 0.2 },
    ]
  } finally {
    await server.close()
  }
}

async function plainJobs(): Promise<readonly PlainJob[]> {
  const { tasks } = await loadTasks({ tasksDir: suite })
  return Promise.all(
    tasks.map(async ({ key, file }) => {
      const { actions } = await loadScript(join(suite, 'scripts', 'solve', key.domain, `${key.id}.json`), key)
      return { id: `${key.domain}/${key.id}`, task_file: file, actions }
    }),
  )
}

/** The same tasks as a user runs them; throws unless all are solved, since a faster wrong run is no figure. */
async function runOurs(jobs: readonly PlainJob[]): Promise<void> {
  const results = await mkdtemp(join(tmpdir(), 'osworld-bench-'))
  try {
    const args = ['run', '--suite', suite, ...jobs.flatMap(({ id }) => ['--task', id]), '--num-envs', '2', '--results', results, '--run-id', 'bench']
    const child = spawn(process.execPath, [join(checkout, 'apps', 'cli', 'dist', 'main.js'), ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
    await once(child, 'close')
    const { reward_sum: sum } = aggregateSchema.parse(JSON.parse(await readFile(join(results, 'bench', 'aggregate.json'), 'utf8')))
    if (sum !== jobs.length) throw new Error(`osworld run solved ${sum} of ${jobs.length} tasks; its time is no figure to compare.`)
  } finally {
    await rm(results, { recursive: true, force: true })
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return (performance.now() - startedMs) / 1000
}
