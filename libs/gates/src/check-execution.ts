import { type Fault, fieldFault } from './fault.ts'
import { checkSpending, type SpendingFacts } from './check-spending.ts'

export interface ExecutionFacts extends SpendingFacts {
  /** Whether attempts run in namespaces of their own on this machine. */
  readonly isConfined: boolean
}

/**
 * Every reason why a contract that passed preflight may not be executed here. `final` means on every route that the result is meant to be
 * published. A local run may be final, at no cost with an agent that asks no model; what no route may publish is a score from a scorer that
 * was not confined, since guest code could have written it.
 */
export function checkExecution(facts: ExecutionFacts): readonly Fault[] {
  const { contract, isConfined } = facts
  const faults: Fault[] = []
  if (contract.operation.route.final && !isConfined) {
    faults.push(fieldFault('final_unconfined', 'operation.route.final', 'is true, but attempts cannot be confined on this machine; install bubblewrap and allow user namespaces, or set it to false.'))
  }
  return [...faults, ...checkSpending(facts)]
}
