import type { Contract, ContractFile } from '@osworld-e2b/contracts'

/** As a user writes it, or as a run records it. */
export type AnyContract = ContractFile | Contract

/** Tries of one model request where the contract names no number. */
export const usualModelCallAttempts = 5

/** Whether the agent may ask a model; scripts and doing nothing ask none. What an agent of the user's own asks, nobody here knows. */
export function usesModel({ scoring: { agent } }: AnyContract): boolean {
  return agent.kind !== 'none' && agent.kind !== 'scripted'
}

/** Whether it asks through the contract's endpoints, so that its requests are counted; an agent of the user's own without any asks elsewhere. */
export function asksEndpoints(contract: AnyContract): boolean {
  return usesModel(contract) && (needsEndpoints(contract) || contract.operation.endpoints !== undefined)
}

/** OSWorld's own agents ask a model and nothing else. */
export function needsEndpoints({ scoring: { agent } }: AnyContract): boolean {
  return agent.kind === 'upstream_runner' || agent.kind === 'upstream'
}

/**
 * Whether a run of it may cost money. Every route but the local one does, also a compatible server, which may bill. On the local route
 * an agent with a model does: an endpoint on this machine may hand on to one that bills, and unknown cost is not zero.
 */
export function isPaid(contract: AnyContract): boolean {
  return contract.operation.route.kind !== 'local' || usesModel(contract)
}

/**
 * Model requests of a run in which every attempt takes every step, asks once a step, and every call fails to its last try: zero without
 * a model, undefined for an agent of the user's own, which may ask as often as it likes.
 */
export function modelRequestBound(contract: AnyContract, taskCount: number): number | undefined {
  const { scoring, operation } = contract
  if (!usesModel(contract)) return 0
  if (!needsEndpoints(contract)) return undefined
  return taskCount * scoring.trials * scoring.max_steps * (operation.model_call_attempts ?? usualModelCallAttempts) * operation.max_attempts_per_trial
}
