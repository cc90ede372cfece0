import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { aggregateSchema, type InvalidReason, ledgerEventSchema, type LedgerEvent, parseJsonDocument } from '@osworld-e2b/contracts'

/** What two runs of the same trials must agree on, and by how much they may differ. */
export interface TrialFacts {
  /** By `domain/task/trial`. */
  readonly rewards: Readonly<Record<string, number>>
  readonly plannedAttempts: number
  readonly invalidByReason: Readonly<Partial<Record<InvalidReason, number>>>
  readonly scoreDeclared: number | null
  readonly isComplete: boolean
}

/** Reads an ended run's folder. Throws when its aggregate is missing or says something else than its ledger. */
export async function readTrialFacts(runFolder: string): Promise<TrialFacts> {
  const aggregate = parseJsonDocument(aggregateSchema, 'aggregate.json', await readFile(join(runFolder, 'aggregate.json'), 'utf8'))
  const facts = factsOf(await readLedger(runFolder))
  return { ...facts, invalidByReason: aggregate.invalid_by_reason, scoreDeclared: aggregate.score_declared, isComplete: aggregate.complete }
}

export async function readLedger(runFolder: string): Promise<readonly LedgerEvent[]> {
  const lines = (await readFile(join(runFolder, 'attempts.jsonl'), 'utf8').catch(() => '')).split('\n')
  // What follows the last line break is not yet, or never was, a line.
  return lines.slice(0, -1).map((line, index) => parseJsonDocument(ledgerEventSchema, `line ${index + 1} of attempts.jsonl`, line))
}

function factsOf(events: readonly LedgerEvent[]): Pick<TrialFacts, 'rewards' | 'plannedAttempts'> {
  const rewards = events.flatMap((event) => (event.event === 'TERMINAL' && event.outcome.kind === 'valid' ? [[`${event.domain}/${event.task_id}/${event.trial}`, event.outcome.reward] as const] : []))
  return { rewards: Object.fromEntries(rewards), plannedAttempts: events.filter(({ event }) => event === 'PLANNED').length }
}

/** Whether the attempt in this folder got its reward. */
export function isScored(events: readonly LedgerEvent[], attemptDir: string): boolean {
  const planned = events.find((event) => event.event === 'PLANNED' && event.attempt_dir === attemptDir)
  if (planned?.event !== 'PLANNED') return false
  const { domain, task_id: task, trial, attempt } = planned
  return events.some((event) => event.event === 'TERMINAL' && event.domain === domain && event.task_id === task && event.trial === trial && event.attempt === attempt && event.outcome.kind === 'valid')
}

/** How many attempts the ledger shows as planned and not ended. */
export function openAttempts(events: readonly LedgerEvent[]): number {
  const count = (name: LedgerEvent['event']) => events.filter(({ event }) => event === name).length
  return count('PLANNED') - count('TERMINAL')
}
