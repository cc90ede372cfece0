import { mkdir, realpath } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { refuseRefused } from './carry-out.ts'
import { failuresOf } from './expectation.ts'
import { type CellContext, killCell } from './kill-cell.ts'
import { absences, type Cell, cells, nameOfCell } from './kill-table.ts'
import { watchLeftOver } from './left-over.ts'
import type { Findings, OwnProof, ProofContext } from './proof.ts'
import type { KillFigure } from './record.ts'
import { runOsworld, type RunPlan } from './run-osworld.ts'
import { readTrialFacts } from './trial-facts.ts'

export const killMatrix: OwnProof = {
  name: 'kill-matrix',
  claim:
    'Coordinator, attempt, its confinement, relay-bin, local server and sandbox, each killed with SIGKILL at every event boundary at which it exists: every run comes to the same valid set, the same reward per trial and the same score_declared as an undisturbed one, attempts and reasons differ by the kill alone, and nothing is left over.',
  cells: cells.map(nameOfCell),
  carryOut,
}

/** Quick ones; the second is still at work when the first has ended, so that there is somebody to kill then. */
const tasks = ['os/measure-room-temperature', 'os/add-bread-to-shopping-list']
const undisturbed: RunPlan = {
  name: 'undisturbed',
  expectedReward: 1,
  numEnvs: tasks.length,
  args: ['--suite', 'starter', '--scripts', 'solve', ...tasks.flatMap((task) => ['--task', task]), '--max-attempts', '3'],
}

async function carryOut(context: ProofContext): Promise<Findings> {
  const chosen = context.cells.length === 0 ? cells : cells.filter((cell) => context.cells.includes(nameOfCell(cell)))
  await mkdir(context.results, { recursive: true })
  const results = await realpath(context.results)
  context.progress(`Run 1 of ${chosen.length + 1}: ${undisturbed.name}`)
  const run = await runOsworld(undisturbed, { ...context, results })
  refuseRefused(run)
  const unfit = failuresOf([run])
  // There is nothing to compare with.
  if (unfit.length > 0) return { figures: { runs: [run] }, failures: unfit }
  const cellContext: CellContext = {
    ...context,
    results,
    args: ['--num-envs', String(undisturbed.numEnvs), ...undisturbed.args],
    trials: tasks.length,
    undisturbed: await readTrialFacts(join(results, undisturbed.name)),
    leftOver: await watchLeftOver({ dataFolder: dataFolderOf(context.environment), temporaryFolder: tmpdir(), patienceMs: 5_000 }),
    hasVerify: await hasVerify(context),
  }
  const figures: KillFigure[] = []
  for (const [index, cell] of chosen.entries()) {
    context.progress(`Run ${index + 2} of ${chosen.length + 1}: ${nameOfCell(cell)}`)
    figures.push(await shownCell(cell, cellContext))
  }
  return {
    figures: { runs: [run], kill_matrix: { cells: figures, absent: [...absences] } },
    failures: figures.flatMap(({ failures }) => failures),
  }
}

async function shownCell(cell: Cell, context: CellContext): Promise<KillFigure> {
  const figure = await killCell(cell, context)
  const lost = Object.entries(figure.invalid_by_reason).map(([reason, count]) => `${count} ${reason}`)
  context.progress(`${nameOfCell(cell)}: ${figure.failures.length === 0 ? 'as expected' : 'FAILED'}, ${figure.open_attempts} open, lost ${lost.join(', ') || 'nothing'}, in ${figure.seconds.toFixed(0)} s`)
  for (const failure of figure.failures) context.progress(`  ${failure}`)
  return figure
}

/** As `osworld run` has it without further words. */
function dataFolderOf(environment: NodeJS.ProcessEnv): string {
  return join(environment.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'osworld-e2b', 'local-e2b')
}

async function hasVerify({ command: [program, ...first] }: ProofContext): Promise<boolean> {
  const { stdout } = await execa(program, [...first, '--help'], { reject: false, stdin: 'ignore' })
  return /^ +verify\b/m.test(stdout)
}
