import { modelRequestBound } from './any-contract.ts'
import type { ContractFacts } from './contract-facts.ts'
import { type Fault, fieldFault } from './fault.ts'
import { countOf, grouped } from './wording.ts'

/** The budget of a run that is held against the reference must let it end: cut off by its requests it would be another experiment. */
export function parityRequestFaults({ contract, taskCount }: ContractFacts): readonly Fault[] {
  const { scoring, operation } = contract
  const budget = operation.budget?.model_requests
  if (budget === undefined || operation.endpoints === undefined || taskCount === undefined) return []
  if (operation.model_call_attempts === undefined) {
    return [fieldFault('model_call_attempts_missing', 'operation.model_call_attempts', 'is missing, so the budget of model requests cannot be checked; write how often one request is tried, the first included.')]
  }
  const least = modelRequestBound(contract, taskCount) ?? 0
  if (budget >= least) return []
  const { trials, max_steps: steps } = scoring
  const { model_call_attempts: calls, max_attempts_per_trial: attempts } = operation
  const factors = `${countOf(taskCount, 'task')} x ${countOf(trials, 'trial')} x ${countOf(steps, 'step')} x ${countOf(calls, 'call attempt')} x ${countOf(attempts, 'attempt')}`
  return [fieldFault('model_requests_too_few', 'operation.budget.model_requests', `is ${grouped(budget)}, but ${factors} may need ${grouped(least)}; write at least ${least}, or lower one of these.`)]
}
