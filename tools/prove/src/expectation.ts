import type { RunFigure, TaskFigure } from './record.ts'

/** Everything about the runs that is not as it should be, one sentence each; none when the claim holds. */
export function failuresOf(runs: readonly RunFigure[]): readonly string[] {
  return [...runs.flatMap(failuresOfRun), ...differencesOf(runs)]
}

function failuresOfRun(run: RunFigure): readonly string[] {
  const ended = run.exit_code === 0 ? [] : [`${run.name}: osworld run ended with exit code ${run.exit_code ?? 'none'} instead of 0.`]
  const unread = run.planned_tasks === null ? [`${run.name}: the run left no readable result.`] : []
  const planned = run.planned_tasks ?? 0
  const unrun = run.planned_tasks === null || (planned === run.tasks.length && planned > 0) ? [] : [`${run.name}: ${run.tasks.length} of ${planned} tasks were run.`]
  const wrong = run.tasks.filter(({ reward }) => reward !== run.expected_reward).map((task) => `${run.name}: ${nameOf(task)} ${gotOf(task)} instead of reward ${run.expected_reward}.`)
  return [...ended, ...unread, ...unrun, ...wrong]
}

function gotOf({ reward, invalid }: TaskFigure): string {
  return reward === null ? `has no score (${invalid.join(', ') || 'never ended'})` : `scored ${reward}`
}

/** Repeats, whose names differ by a number alone, must agree on every task, also where one of them lacks it. */
function differencesOf(runs: readonly RunFigure[]): readonly string[] {
  const groups = new Set(runs.map(groupOf))
  return [...groups].flatMap((group) => {
    const repeats = runs.filter((run) => groupOf(run) === group)
    const names = [...new Set(repeats.flatMap((run) => run.tasks.map(nameOf)))]
    return names.flatMap((name) => {
      const rewards = repeats.map((run) => run.tasks.find((task) => nameOf(task) === name)?.reward ?? 'none')
      return new Set(rewards).size === 1 ? [] : [`${group}: ${name} differs between repeats: ${rewards.join(', ')}.`]
    })
  })
}

function groupOf({ name }: RunFigure): string {
  return name.replace(/ \d+$/, '')
}

function nameOf({ task }: TaskFigure): string {
  return `${task.domain}/${task.id}`
}
