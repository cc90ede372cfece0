import { type AnyContract, asksEndpoints, isPaid, modelRequestBound, usesModel } from './any-contract.ts'
import { countOf, grouped } from './wording.ts'

export interface BoundFacts {
  /** How many tasks the contract selects. */
  readonly taskCount: number
  /** Dollars of one sandbox for one hour; null when nobody said. */
  readonly sandboxHourUsd: number | null
  /** Dollars that one model request costs at most; null when nobody said. */
  readonly modelRequestUsd: number | null
}

/** The most that a campaign can use when every attempt fails and takes all its time; null is unknown, which is not zero. */
export interface Bounds {
  readonly tasks: number
  readonly trials: number
  readonly attempts: number
  readonly sandbox_hours: number
  readonly model_requests: number | null
  /** Zero without a model; what a request takes is not known before it is answered. */
  readonly model_tokens: number | null
  readonly sandbox_cost_usd: number | null
  readonly model_cost_usd: number | null
  /** Null as soon as one part of it is unknown. */
  readonly cost_usd: number | null
}

/** Upper bounds of a contract: attempts are tasks x trials x attempts a trial, and each may keep a sandbox for its whole time-out. */
export function bounds(contract: AnyContract, { taskCount, sandboxHourUsd, modelRequestUsd }: BoundFacts): Bounds {
  const { scoring, operation } = contract
  const attempts = taskCount * scoring.trials * operation.max_attempts_per_trial
  const sandboxHours = (attempts * operation.attempt_timeout_seconds) / 3_600
  // The gateway sends no request beyond the budget, so that it is the bound where no other is known.
  const modelRequests = modelRequestBound(contract, taskCount) ?? (asksEndpoints(contract) ? operation.budget?.model_requests : undefined) ?? null
  const sandboxCost = operation.route.kind === 'local' ? 0 : times(sandboxHours, sandboxHourUsd)
  const modelCost = usesModel(contract) ? times(modelRequests, modelRequestUsd) : 0
  return {
    tasks: taskCount,
    trials: taskCount * scoring.trials,
    attempts,
    sandbox_hours: sandboxHours,
    model_requests: modelRequests,
    model_tokens: usesModel(contract) ? null : 0,
    sandbox_cost_usd: sandboxCost,
    model_cost_usd: modelCost,
    cost_usd: isPaid(contract) ? plus(sandboxCost, modelCost) : 0,
  }
}

/** What a budget below its bound means, for each budget that is; such a campaign may end before its last task, and is not refused for it. */
export function budgetNotes({ operation: { budget } }: AnyContract, most: Bounds): readonly string[] {
  if (budget === undefined) return []
  const notes: string[] = []
  if (budget.sandbox_hours !== undefined && budget.sandbox_hours < most.sandbox_hours) {
    notes.push(`the budget of ${countOf(budget.sandbox_hours, 'sandbox hour')} is below the upper bound of ${hours(most.sandbox_hours)}: the run may end before its last task`)
  }
  if (budget.model_requests !== undefined && most.model_requests !== null && budget.model_requests < most.model_requests) {
    notes.push(`the budget of ${countOf(budget.model_requests, 'model request')} is below the upper bound of ${grouped(most.model_requests)}: the run may end before its last task`)
  }
  if (budget.model_tokens !== undefined && most.model_tokens === null) {
    notes.push(`the budget of ${countOf(budget.model_tokens, 'model token')} cannot be held against an upper bound: what a request takes is not known before it is answered`)
  }
  if (budget.cost_usd_cents !== undefined) notes.push(...costNotes(budget.cost_usd_cents, most.cost_usd))
  return notes
}

/** In whole cents, since a product of prices is off by a float's last digit. */
function costNotes(budgetCents: number, mostUsd: number | null): readonly string[] {
  if (mostUsd === null) return [`the budget of ${dollars(budgetCents)} cannot be held against an upper bound: the price is not known`]
  const mostCents = Math.round(mostUsd * 100)
  return budgetCents < mostCents ? [`the budget of ${dollars(budgetCents)} is below the upper bound of ${dollars(mostCents)}: the run may end before its last task`] : []
}

function times(count: number | null, price: number | null): number | null {
  return count === null || price === null ? null : count * price
}

function plus(left: number | null, right: number | null): number | null {
  return left === null || right === null ? null : left + right
}

function hours(count: number): string {
  return Number.isInteger(count) ? grouped(count) : count.toFixed(1)
}

function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`
}
