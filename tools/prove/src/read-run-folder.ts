import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { aggregateSchema, DocumentError, ledgerEventSchema, type LedgerEvent, parseJsonDocument } from '@osworld-e2b/contracts'
import type { RunFigure, TaskFigure } from './record.ts'

type FoundFigures = Pick<RunFigure, 'labels' | 'planned_tasks' | 'tasks'>

/** What a run's folder says of its tasks, in the order of the plan; `explain` is told why there is nothing to read. */
export async function readRunFolder(folder: string, explain: (sentence: string) => void): Promise<FoundFigures> {
  try {
    return await readFigures(folder)
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isMissing && !(error instanceof DocumentError)) throw error
    explain(error.message)
    return { labels: [], planned_tasks: null, tasks: [] }
  }
}

async function readFigures(folder: string): Promise<FoundFigures> {
  const aggregate = parseJsonDocument(aggregateSchema, 'aggregate.json', await readFile(join(folder, 'aggregate.json'), 'utf8'))
  const lines = (await readFile(join(folder, 'attempts.jsonl'), 'utf8')).split('\n').filter(Boolean)
  const tasks = foldTasks(lines.map((line, index) => parseJsonDocument(ledgerEventSchema, `line ${index + 1} of attempts.jsonl`, line)))
  const labels = (['simulated', 'unverified', 'unconfined', 'additions'] as const).filter((label) => aggregate[label] === true)
  return { labels, planned_tasks: aggregate.planned_tasks, tasks }
}

/** One figure a task, folded over all attempts at it; the last one's outcome counts. */
export function foldTasks(events: readonly LedgerEvent[]): TaskFigure[] {
  const tasks = new Map<string, TaskFigure>()
  for (const event of events) {
    if (event.event !== 'PLANNED' && event.event !== 'TERMINAL') continue
    const name = `${event.domain}/${event.task_id}`
    const before = tasks.get(name) ?? { task: { domain: event.domain, id: event.task_id }, reward: null, invalid: [], seconds: 0, steps: 0 }
    tasks.set(name, event.event === 'PLANNED' ? before : withEnd(before, event))
  }
  return [...tasks.values()]
}

function withEnd(before: TaskFigure, { outcome, seconds, steps }: Extract<LedgerEvent, { event: 'TERMINAL' }>): TaskFigure {
  return {
    ...before,
    reward: outcome.kind === 'valid' ? outcome.reward : null,
    invalid: outcome.kind === 'valid' ? before.invalid : [...before.invalid, outcome.reason],
    seconds: before.seconds + seconds,
    steps: before.steps + steps,
  }
}
