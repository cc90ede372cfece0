import type { Used } from '@osworld-e2b/aggregation'
import type { Budget } from '@osworld-e2b/contracts'

/** What a budget is held against. */
export interface Spending {
  /** By attempts that ended, over all starts of the run. */
  readonly spent: Used
  /** Dollars of sandboxes and models by the same; null is unknown. */
  readonly spentUsd: number | null
  /** By attempts that run: the larger of what each was reserved and what it has used. */
  readonly reserved: Used
  /** What one more attempt may need. */
  readonly need: Used
  /** Dollars of one sandbox for one hour; undefined when nobody said. */
  readonly sandboxHourUsd: number | undefined
}

/** Which budget does not hold one more attempt, as a sentence; undefined when all do. An unknown cost holds no cost budget. */
export function budgetProblem(budget: Budget | undefined, spending: Spending): string | undefined {
  if (budget === undefined) return undefined
  const { spent, reserved, need } = spending
  const checks: readonly (readonly [limit: number | undefined, used: number, what: string])[] = [
    [budget.sandbox_hours, hours(spent, reserved, need), 'sandbox hours'],
    [budget.model_requests, spent.modelRequests + reserved.modelRequests + need.modelRequests, 'model requests'],
    [budget.model_tokens, spent.modelTokens + reserved.modelTokens + need.modelTokens, 'model tokens'],
    [budget.cost_usd_cents === undefined ? undefined : budget.cost_usd_cents / 100, dollars(spending), 'dollars'],
  ]
  for (const [limit, used, what] of checks) {
    if (limit !== undefined && used > limit) return `The budget of ${limit} ${what} does not hold another attempt.`
  }
  return undefined
}

/** The larger of two, amount by amount. */
export function largerOf(left: Used, right: Used): Used {
  return {
    sandboxSeconds: Math.max(left.sandboxSeconds, right.sandboxSeconds),
    modelRequests: Math.max(left.modelRequests, right.modelRequests),
    modelTokens: Math.max(left.modelTokens, right.modelTokens),
    modelUsd: Math.max(left.modelUsd, right.modelUsd),
  }
}

export function sumOf(amounts: readonly Used[]): Used {
  const sum = (of: (used: Used) => number) => amounts.reduce((total, used) => total + of(used), 0)
  return {
    sandboxSeconds: sum((used) => used.sandboxSeconds),
    modelRequests: sum((used) => used.modelRequests),
    modelTokens: sum((used) => used.modelTokens),
    modelUsd: sum((used) => used.modelUsd),
  }
}

function hours(...amounts: readonly Used[]): number {
  return sumOf(amounts).sandboxSeconds / 3_600
}

function dollars({ spentUsd, reserved, need, sandboxHourUsd }: Spending): number {
  if (spentUsd === null || sandboxHourUsd === undefined) return Infinity
  return spentUsd + hours(reserved, need) * sandboxHourUsd + reserved.modelUsd + need.modelUsd
}
