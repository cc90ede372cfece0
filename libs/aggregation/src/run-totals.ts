import type { Aggregate, LedgerEvent, ModelCall, ModelUsage, Orphans, PauseReason } from '@osworld-e2b/contracts'

type AttemptEnd = Extract<LedgerEvent, { event: 'TERMINAL' }>
type RunEnd = Extract<LedgerEvent, { event: 'RUN_ENDED' }>

/** What an attempt used, as far as it is known. */
export interface Used {
  readonly sandboxSeconds: number
  readonly modelRequests: number
  readonly modelTokens: number
  readonly modelUsd: number
}

/** What a run used and met over all its starts. */
export interface RunTotals extends Used {
  /** Dollars; null once a sandbox was used whose price nobody said. */
  readonly sandboxUsd: number | null
  /** Undefined while no attempt asked a model. */
  readonly model: ModelUsage | undefined
  /** Most that one attempt used of each. */
  readonly largest: Used
  readonly orphans: Orphans | undefined
  readonly notRun: Aggregate['not_run']
  /** Pauses that are not over. */
  readonly paused: ReadonlyMap<PauseReason, string>
  /** Dollars of one sandbox for one hour in the latest start; undefined when nobody said. */
  readonly sandboxHourUsd: number | undefined
}

const nothingUsed: Used = { sandboxSeconds: 0, modelRequests: 0, modelTokens: 0, modelUsd: 0 }

export const noTotals: RunTotals = {
  ...nothingUsed,
  sandboxUsd: 0,
  model: undefined,
  largest: nothingUsed,
  orphans: undefined,
  notRun: undefined,
  paused: new Map(),
  sandboxHourUsd: undefined,
}

/** Totals after one more event; constant time. */
export function nextTotals(totals: RunTotals, event: LedgerEvent): RunTotals {
  switch (event.event) {
    case 'PLANNED':
    case 'STARTED':
    case 'TAIL_CUT':
      return totals
    case 'RUN_STARTED':
      return { ...totals, notRun: undefined, paused: new Map(), sandboxHourUsd: event.sandbox_hour_usd }
    case 'RUN_PAUSED':
      return { ...totals, paused: new Map([...totals.paused, [event.reason, event.message]]) }
    case 'RUN_CONTINUED':
      return { ...totals, paused: new Map([...totals.paused].filter(([reason]) => reason !== event.reason)) }
    case 'ORPHANS_KILLED':
      return { ...totals, orphans: plusOrphans(totals.orphans, event.orphans) }
    case 'RUN_ENDED':
      return afterRun(totals, event)
    case 'TERMINAL':
      return afterAttempt(totals, event)
  }
}

/** The sum of two usages; either may be missing. */
export function addUsage(left: ModelUsage | undefined, right: ModelUsage | undefined): ModelUsage | undefined {
  if (left === undefined || right === undefined) return left ?? right
  return {
    calls: left.calls + right.calls,
    requests: left.requests + right.requests,
    failed_calls: left.failed_calls + right.failed_calls,
    input_tokens: left.input_tokens + right.input_tokens,
    output_tokens: left.output_tokens + right.output_tokens,
    tokens_known_calls: left.tokens_known_calls + right.tokens_known_calls,
    cost_usd: left.cost_usd + right.cost_usd,
    cost_known_calls: left.cost_known_calls + right.cost_known_calls,
    endpoints: [...new Set([...left.endpoints, ...right.endpoints])].sort(),
  }
}

/** What one call came to. */
export function usageOfCall({ tries, outcome, tokens, cost_usd: costUsd, endpoint }: ModelCall): ModelUsage {
  return {
    calls: 1,
    requests: tries,
    failed_calls: outcome === 'failed' ? 1 : 0,
    input_tokens: tokens?.input ?? 0,
    output_tokens: tokens?.output ?? 0,
    tokens_known_calls: tokens === null ? 0 : 1,
    cost_usd: costUsd ?? 0,
    cost_known_calls: costUsd === null ? 0 : 1,
    endpoints: outcome === 'answered' && endpoint !== null ? [endpoint] : [],
  }
}

/** A usage as amounts that budgets are held against. */
export function usedBy(sandboxSeconds: number, model: ModelUsage | undefined): Used {
  return {
    sandboxSeconds,
    modelRequests: model?.requests ?? 0,
    modelTokens: (model?.input_tokens ?? 0) + (model?.output_tokens ?? 0),
    modelUsd: model?.cost_usd ?? 0,
  }
}

function afterAttempt(totals: RunTotals, { sandbox_seconds: sandboxSeconds = 0, model }: AttemptEnd): RunTotals {
  const used = usedBy(sandboxSeconds, model)
  const { largest } = totals
  return {
    ...totals,
    sandboxSeconds: totals.sandboxSeconds + used.sandboxSeconds,
    modelRequests: totals.modelRequests + used.modelRequests,
    modelTokens: totals.modelTokens + used.modelTokens,
    modelUsd: totals.modelUsd + used.modelUsd,
    sandboxUsd: plusCost(totals, sandboxSeconds),
    model: addUsage(totals.model, model),
    largest: {
      sandboxSeconds: Math.max(largest.sandboxSeconds, used.sandboxSeconds),
      modelRequests: Math.max(largest.modelRequests, used.modelRequests),
      modelTokens: Math.max(largest.modelTokens, used.modelTokens),
      modelUsd: Math.max(largest.modelUsd, used.modelUsd),
    },
  }
}

function plusCost({ sandboxUsd, sandboxHourUsd }: RunTotals, seconds: number): number | null {
  if (sandboxUsd === null || seconds === 0) return sandboxUsd
  return sandboxHourUsd === undefined ? null : sandboxUsd + (seconds * sandboxHourUsd) / 3_600
}

function afterRun(totals: RunTotals, event: RunEnd): RunTotals {
  const orphans = event.orphans === undefined ? totals.orphans : plusOrphans(totals.orphans, event.orphans)
  return { ...totals, paused: new Map(), orphans, notRun: event.not_run }
}

/** What was found and killed adds up; what remains is what the last look saw. */
function plusOrphans(before: Orphans | undefined, now: Orphans): Orphans {
  return { found: (before?.found ?? 0) + now.found, killed: (before?.killed ?? 0) + now.killed, remaining: now.remaining }
}
