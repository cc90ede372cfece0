import type { Aggregate, InvalidReason, Score, TaskKey } from '@osworld-e2b/contracts'
import type { RunTotals } from './run-totals.ts'
import { type RunState, type TrialRecord, trialId, trialReward } from './run-state.ts'

export interface AggregateInput {
  readonly runId: string
  readonly tasks: readonly TaskKey[]
  readonly trials: number
  readonly state: RunState
  readonly totals: RunTotals
  /** RFC 3339. */
  readonly updatedAt: string
  readonly labels: { readonly unconfined: boolean; readonly unverified: boolean; readonly simulated?: boolean }
}

interface TaskResult {
  readonly domain: string
  readonly attempted: boolean
  /** Mean reward of its trials; undefined while any of them is not valid. */
  readonly reward: number | undefined
}

/**
 * Folds a run into its aggregate. A task is valid when each of its trials is; its reward is their mean.
 * `score_declared` divides by planned tasks, so what is missing counts nothing.
 */
export function aggregate(input: AggregateInput): Aggregate {
  const results = input.tasks.map((task) => taskResult(task, input))
  const attempts = [...input.state.values()].flatMap((trial) => trial.attempts)
  const overall = scoreOf(results)
  return {
    schema_version: 1,
    run_id: input.runId,
    updated_at: input.updatedAt,
    complete: overall.remaining_tasks === 0,
    ...overall,
    trials: input.trials,
    planned_attempts: attempts.length,
    started_attempts: attempts.filter(({ state }) => state.phase !== 'planned').length,
    terminal_attempts: attempts.filter(({ state }) => state.phase === 'terminal').length,
    invalid_by_reason: invalidByReason(input.state.values()),
    domains: scoresByDomain(results),
    attempt_seconds: sum(attempts.map(({ state }) => (state.phase === 'terminal' ? state.seconds : 0))),
    ...(input.totals.notRun === undefined ? {} : { not_run: input.totals.notRun }),
    ...(input.totals.orphans === undefined ? {} : { orphans: input.totals.orphans }),
    used: usedIn(input.totals),
    ...(input.labels.simulated === true ? { simulated: true as const } : {}),
    ...(input.labels.unconfined ? { unconfined: true as const } : {}),
    ...(input.labels.unverified ? { unverified: true as const } : {}),
  }
}

/** Unknown cost is null, never zero. */
function usedIn({ sandboxSeconds, sandboxUsd, model }: RunTotals): Aggregate['used'] {
  if (model === undefined) return { sandbox_seconds: sandboxSeconds, sandbox_usd: sandboxUsd, total_usd: sandboxUsd }
  const modelUsd = model.cost_known_calls === model.calls ? model.cost_usd : null
  const totalUsd = sandboxUsd === null || modelUsd === null ? null : sandboxUsd + modelUsd
  return { sandbox_seconds: sandboxSeconds, sandbox_usd: sandboxUsd, model, model_usd: modelUsd, total_usd: totalUsd }
}

function taskResult(task: TaskKey, { trials, state }: AggregateInput): TaskResult {
  const records = Array.from({ length: trials }, (_, index) => state.get(trialId({ ...task, trial: index + 1 })))
  const rewards = records.map(trialReward).filter((reward) => reward !== undefined)
  return {
    domain: task.domain,
    attempted: records.some((record) => record !== undefined),
    reward: rewards.length === trials ? sum(rewards) / trials : undefined,
  }
}

function scoreOf(results: readonly TaskResult[]): Score {
  const rewards = results.map(({ reward }) => reward).filter((reward) => reward !== undefined)
  const rewardSum = sum(rewards)
  const ratio = (value: number, count: number) => (count === 0 ? null : value / count)
  return {
    planned_tasks: results.length,
    attempted_tasks: results.filter(({ attempted }) => attempted).length,
    valid_tasks: rewards.length,
    remaining_tasks: results.length - rewards.length,
    reward_sum: rewardSum,
    score_declared: ratio(rewardSum, results.length),
    score_valid: ratio(rewardSum, rewards.length),
    coverage: ratio(rewards.length, results.length),
  }
}

function scoresByDomain(results: readonly TaskResult[]): Record<string, Score> {
  const domains = [...new Set(results.map(({ domain }) => domain))].sort()
  return Object.fromEntries(domains.map((domain) => [domain, scoreOf(results.filter((result) => result.domain === domain))]))
}

function invalidByReason(trials: Iterable<TrialRecord>): Aggregate['invalid_by_reason'] {
  const counts: Partial<Record<InvalidReason, number>> = {}
  for (const trial of trials) {
    for (const { state } of trial.attempts) {
      if (state.phase !== 'terminal' || state.outcome.kind === 'valid') continue
      counts[state.outcome.reason] = (counts[state.outcome.reason] ?? 0) + 1
    }
  }
  return counts
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
