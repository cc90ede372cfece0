import type { InvalidReason, Outcome, Phase } from '@osworld-e2b/contracts'

/** How often the same run may try a trial again after an attempt that ended so. */
export type RetryAllowance = 'up_to_limit' | 'once' | 'at_resume' | 'never'

const byReason: Readonly<Record<InvalidReason, RetryAllowance>> = {
  sandbox_create_failed: 'up_to_limit',
  guest_not_ready: 'up_to_limit',
  guest_lost: 'up_to_limit',
  relay_failed: 'up_to_limit',
  worker_lost: 'up_to_limit',
  setup_failed: 'once',
  application_missing: 'once',
  model_unavailable: 'up_to_limit',
  timeout: 'up_to_limit',
  runner_exit: 'once',
  missing_result: 'once',
  malformed_result: 'once',
  evaluator_error: 'once',
  identity_drift: 'at_resume',
  cleanup_failed: 'up_to_limit',
  interrupted: 'at_resume',
}

/** The outcome table as a function: an infrastructure fault is tried again, an agent's failure never is. */
export function retryAllowance(outcome: Outcome): RetryAllowance {
  if (outcome.kind === 'valid') return 'never'
  if (outcome.reason === 'timeout' && isAgents(outcome.phase)) return 'never'
  return byReason[outcome.reason]
}

/** Whether a start of a run may try a trial again after its attempts of that start ended so. */
export function allowsAnother(outcomes: readonly Outcome[], maxAttempts: number): boolean {
  const allowances = outcomes.map(retryAllowance)
  if (allowances.some((allowance) => allowance === 'never' || allowance === 'at_resume')) return false
  return allowances.filter((allowance) => allowance === 'once').length < 2 && allowances.length < maxAttempts
}

/** A slow agent is the agent's; a time-out whose phase is unknown is not held against it. */
function isAgents(phase: Phase | undefined): boolean {
  return phase === 'agent'
}
