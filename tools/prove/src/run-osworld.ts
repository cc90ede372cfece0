import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { execa } from 'execa'
import type { Interrupts } from './interrupts.ts'
import { ProveError } from './prove-error.ts'
import { readRunFolder } from './read-run-folder.ts'
import type { RunFigure } from './record.ts'

/** One `osworld run` to be made. */
export interface RunPlan {
  /** Ends with a number when it is one of several repeats. */
  readonly name: string
  readonly expectedReward: 0 | 1
  readonly numEnvs: number
  /** Flags that say which tasks and which agent. */
  readonly args: readonly string[]
}

export interface RunOsworldOptions {
  /** Program and first arguments that `run …` is added to. */
  readonly command: readonly [string, ...string[]]
  /** Where the run folder and its log go. */
  readonly results: string
  readonly interrupts: Interrupts
  /** Takes the child's lines, and ours. */
  readonly progress: (line: string) => void
}

/** Makes one run as a user would, from outside, and reads its figures back from its folder. */
export async function runOsworld(plan: RunPlan, options: RunOsworldOptions): Promise<RunFigure> {
  const { results, interrupts, progress } = options
  refuseWhenStopped(interrupts)
  await mkdir(results, { recursive: true })
  const runId = plan.name.replaceAll(/[^a-z0-9]+/g, '-')
  const logFile = join(results, `${runId}.log`)
  const startedMs = performance.now()
  const exitCode = await spawnRun({ args: ['--results', results, '--run-id', runId, '--num-envs', String(plan.numEnvs), ...plan.args], logFile }, options)
  refuseWhenStopped(interrupts)
  const found = await readRunFolder(join(results, runId), progress)
  const seconds = (performance.now() - startedMs) / 1000
  const scored = found.tasks.filter(({ reward }) => reward === plan.expectedReward).length
  progress(`${plan.name}: ${scored} of ${found.tasks.length} tasks scored ${plan.expectedReward} in ${seconds.toFixed(0)} s`)
  return { name: plan.name, expected_reward: plan.expectedReward, num_envs: plan.numEnvs, exit_code: exitCode, seconds, ...found }
}

function refuseWhenStopped({ signal }: Interrupts): void {
  if (signal.aborted) throw new ProveError('interrupted', 'Stopped; no record is written.')
}

/** Gives the exit code; null after a signal. */
async function spawnRun(run: { readonly args: readonly string[]; readonly logFile: string }, options: RunOsworldOptions): Promise<number | null> {
  const [program, ...first] = options.command
  // A group of its own: the terminal's Ctrl-C would else reach it twice, and the second one forces.
  const child = execa(program, [...first, 'run', ...run.args], {
    detached: true,
    cleanup: false,
    reject: false,
    buffer: false,
    stdin: 'ignore',
    stdout: ['pipe', { file: run.logFile }],
    stderr: ['pipe', { file: run.logFile }],
    all: true,
  })
  const stopForwarding = options.interrupts.forwardTo((name) => void child.kill(name))
  try {
    for await (const line of child.iterable({ from: 'all' })) options.progress(`  ${line}`)
    const { exitCode, cause } = await child
    if (exitCode === undefined && child.pid === undefined) throw new ProveError('not_ready', `${program} could not be started.`, { cause })
    return exitCode ?? null
  } finally {
    stopForwarding()
  }
}
