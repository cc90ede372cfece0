import { type RunTotals, type TrialKey, trialId, usedBy, type Used } from '@osworld-e2b/aggregation'
import type { Contract, ModelUsage, Phase } from '@osworld-e2b/contracts'
import type { AttemptReport } from './attempt-report.ts'
import { type CreateFaults, noCreateFaults } from './breaker.ts'
import { largerOf, type Spending, sumOf } from './budget.ts'
import { type AttemptIdentity, attemptName } from './campaign-types.ts'

interface Running {
  readonly identity: AttemptIdentity
  readonly reserved: Used
  hasSandbox: boolean
}

/** What runs now and what its kind has shown so far in this start of the run: the moving part of what decisions go by. */
export class RunningAttempts {
  readonly #running = new Map<string, Running>()
  readonly #launchedMs: number[] = []
  readonly #endedMs = new Map<string, number>()
  #createFaults: CreateFaults = noCreateFaults

  get ids(): ReadonlySet<string> {
    return new Set(this.#running.keys())
  }

  /** As their sandboxes are marked. */
  get names(): ReadonlySet<string> {
    return new Set([...this.#running.values()].map(({ identity }) => attemptName(identity)))
  }

  get creating(): number {
    return [...this.#running.values()].filter(({ hasSandbox }) => !hasSandbox).length
  }

  get endedMs(): ReadonlyMap<string, number> {
    return this.#endedMs
  }

  get createFaults(): CreateFaults {
    return this.#createFaults
  }

  /** Launches of the last second. */
  launchedSince(nowMs: number): readonly number[] {
    while ((this.#launchedMs[0] ?? Infinity) <= nowMs - 1_000) this.#launchedMs.shift()
    return this.#launchedMs
  }

  launch(identity: AttemptIdentity, reserved: Used, nowMs: number): void {
    this.#running.set(trialId(identity), { identity, reserved, hasSandbox: false })
    this.#launchedMs.push(nowMs)
  }

  /** A set-up begins on a desktop that answered, so its sandbox was made. */
  phase(trial: TrialKey, phase: Phase): void {
    const running = this.#running.get(trialId(trial))
    if (running === undefined || phase === 'import' || phase === 'start') return
    if (!running.hasSandbox) this.#createFaults = noCreateFaults
    running.hasSandbox = true
  }

  end(trial: TrialKey, { outcome }: Pick<AttemptReport, 'outcome'>, nowMs: number): void {
    this.#running.delete(trialId(trial))
    this.#endedMs.set(trialId(trial), nowMs)
    if (outcome.kind === 'valid') return
    if (outcome.reason === 'sandbox_create_failed') this.#createFaults = { inARow: this.#createFaults.inARow + 1, lastMs: nowMs }
    // A desktop that does not come up was made all the same.
    if (outcome.reason === 'guest_not_ready') this.#createFaults = noCreateFaults
  }

  /** What is spent, reserved and needed, for the budget. */
  spending(totals: RunTotals, need: Used, usageOf: (identity: AttemptIdentity) => ModelUsage | undefined): Spending {
    return {
      spent: totals,
      spentUsd: reckonedUsd(totals),
      reserved: sumOf([...this.#running.values()].map(({ identity, reserved }) => largerOf(reserved, usedBy(0, usageOf(identity))))),
      need,
      sandboxHourUsd: totals.sandboxHourUsd,
    }
  }
}

/** A call whose cost nobody told, such as one that was broken off, is reckoned like the others; null when nothing is known to reckon by. */
function reckonedUsd({ sandboxUsd, model, modelUsd }: RunTotals): number | null {
  if (sandboxUsd === null) return null
  if (model === undefined || model.calls === model.cost_known_calls) return sandboxUsd + modelUsd
  return model.cost_known_calls === 0 ? null : sandboxUsd + (modelUsd * model.calls) / model.cost_known_calls
}

/**
 * What one more attempt may need: a sandbox for its whole time-out, a model request for every step, and of tokens and money the most that one
 * attempt of this run has used so far.
 */
export function needOf({ scoring, operation }: Contract, { largest }: RunTotals, attemptModelUsd = 0): Used {
  const asksModel = operation.endpoints !== undefined
  return {
    sandboxSeconds: operation.attempt_timeout_seconds,
    modelRequests: asksModel ? scoring.max_steps : 0,
    modelTokens: largest.modelTokens,
    modelUsd: Math.max(largest.modelUsd, asksModel ? attemptModelUsd : 0),
  }
}
