import type { RunStatus } from '@osworld-e2b/contracts'
import type { RunModel } from '@osworld-e2b/report'

/** What a run's own record tells when nobody says how it goes: its counts, and nothing that runs. */
export function recordedStatus({ document, contract, aggregate, ledger, trials }: RunModel): RunStatus {
  const rewards = trials.map(({ reward }) => reward).filter((reward) => reward !== undefined)
  const failed = trials.filter(({ reward, attempts }) => reward === undefined && attempts.at(-1)?.end !== undefined).length
  const cost = aggregate.used?.total_usd ?? null
  return {
    schema_version: 1,
    run_id: document.run_id,
    updated_at: ledger.ended?.timestamp ?? aggregate.updated_at,
    started_at: document.created_at,
    state: ledger.ended === undefined ? 'running' : 'ended',
    pauses: [],
    planned: contract.scoring.tasks.length * contract.scoring.trials,
    valid: rewards.length,
    failed,
    reward_sum: rewards.reduce((sum, reward) => sum + reward, 0),
    running: [],
    per_minute: null,
    eta_seconds: null,
    cost: { so_far_usd: cost, forecast_usd: ledger.ended === undefined ? null : cost },
    events: [],
  }
}
