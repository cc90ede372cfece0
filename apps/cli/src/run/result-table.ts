import { type RunState, trialId } from '@osworld-e2b/aggregation'
import type { Aggregate, NotRunReason, TaskKey } from '@osworld-e2b/contracts'

interface Row {
  readonly task: string
  readonly reward: string
  readonly seconds: string
  readonly outcome: string
  readonly rank: number
}

/** Final table of a run: what has no score first, then by rising reward, so that failures are seen at once. */
export function resultTable(tasks: readonly TaskKey[], trials: number, state: RunState): string {
  const rows = tasks.flatMap((task) => Array.from({ length: trials }, (_, index) => row(task, index + 1, state)))
  const sorted = rows.sort((a, b) => a.rank - b.rank || (a.task < b.task ? -1 : 1))
  const lines = [['task', 'reward', 'seconds', 'outcome'], ...sorted.map(({ task, reward, seconds, outcome }) => [task, reward, seconds, outcome])]
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines.map((line) => line.map((cell, column) => pad(cell, widths[column] ?? 0, column)).join('  ').trimEnd()).join('\n')
}

/** The one line that must never show a flattering number: score with its coverage. */
export function scoreLine(aggregate: Aggregate): string {
  const percent = (value: number | null) => (value === null ? 'none' : value.toFixed(4))
  const labels = (['simulated', 'unverified', 'unconfined', 'additions'] as const).filter((label) => aggregate[label] === true)
  const suffix = labels.length === 0 ? '' : ` [${labels.join(', ')}]`
  return `score ${percent(aggregate.score_declared)} over ${aggregate.planned_tasks} planned tasks, coverage ${percent(aggregate.coverage)} (${aggregate.valid_tasks} valid)${suffix}`
}

const notRunTexts: Readonly<Record<NotRunReason, string>> = {
  budget: 'since the budget does not hold another attempt; resume with a larger one',
  deadline: 'since the time for starting attempts is over; resume the run to go on',
  drained: 'since the run was drained; resume it to go on',
  interrupted: 'since the run was stopped; resume it to go on',
  identity_drift: 'since what runs is not what the run was made of any more; mend that and resume',
}

/** What kept trials from being run, and what to do next. */
export function notRunLines({ not_run: notRun = {} }: Aggregate): readonly string[] {
  return (Object.entries(notRun) as [NotRunReason, number][]).map(([reason, count]) => `${count} ${count === 1 ? 'trial was' : 'trials were'} not run, ${notRunTexts[reason]}.`)
}

function row(task: TaskKey, trial: number, state: RunState): Row {
  const name = `${task.domain}/${task.id}${trial > 1 ? ` #${trial}` : ''}`
  const attempts = state.get(trialId({ ...task, trial }))?.attempts ?? []
  const last = attempts.at(-1)?.state
  if (last?.phase !== 'terminal') return { task: name, reward: '-', seconds: '-', outcome: 'not run', rank: -1 }
  const seconds = last.seconds.toFixed(1)
  if (last.outcome.kind === 'valid') {
    return { task: name, reward: String(last.outcome.reward), seconds, outcome: `valid after ${last.steps} ${last.steps === 1 ? 'step' : 'steps'}${tries(attempts.length)}`, rank: last.outcome.reward }
  }
  const where = last.outcome.phase === undefined ? '' : ` in ${last.outcome.phase}`
  return { task: name, reward: '-', seconds, outcome: `${last.outcome.reason}${where}: ${last.outcome.message}${tries(attempts.length)}`, rank: -2 }
}

/** Said only when it took more than one. */
function tries(attempts: number): string {
  return attempts > 1 ? ` (attempt ${attempts})` : ''
}

function pad(cell: string, width: number, column: number): string {
  return column === 1 || column === 2 ? cell.padStart(width) : cell.padEnd(width)
}
