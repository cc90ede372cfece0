import type { TrialKey } from '@osworld-e2b/aggregation'
import type { Contract } from '@osworld-e2b/contracts'
import type { Assumptions } from './assumptions.ts'

export interface CampaignSize {
  readonly sandboxes: number
  readonly tasks: number
  readonly trials: number
}

const nothing = '0'.repeat(64)

/** All trials of the simulated suite, in its order. */
export function trialsOf({ tasks, trials }: CampaignSize): readonly TrialKey[] {
  return Array.from({ length: trials }, (_, trial) => Array.from({ length: tasks }, (_task, index) => ({ domain: 'simulated', id: `task-${index + 1}`, trial: trial + 1 }))).flat()
}

/** The contract of a simulated campaign. */
export function contractOf(size: CampaignSize, order: readonly TrialKey[], assumptions: Assumptions): Contract {
  return {
    schema_version: 2,
    scoring: {
      profile: 'simulated',
      suite: 'simulated',
      tasks: order.filter(({ trial }) => trial === 1).map(({ domain, id }) => ({ domain, id, task_sha256: nothing })),
      trials: size.trials,
      template: 'simulated:00000000-0000-0000-0000-000000000000',
      agent: { kind: 'none' },
      max_steps: assumptions.steps,
      timing: 'settled',
      screen: { width: 1920, height: 1080 },
      enable_proxy: false,
      adjustments_sha256: nothing,
    },
    operation: {
      route: { kind: 'e2b', final: false },
      num_envs: size.sandboxes,
      max_attempts_per_trial: assumptions.maxAttemptsPerTrial,
      attempt_timeout_seconds: 86_400,
      launches_per_second: assumptions.createsPerSecond,
      ready_deadline_seconds: 600,
      execution_authorized: false,
    },
  }
}
