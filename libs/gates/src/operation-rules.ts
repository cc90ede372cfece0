import { asksEndpoints, needsEndpoints, usesModel } from './any-contract.ts'
import { type ContractFacts, knownProfile } from './contract-facts.ts'
import { type Fault, fieldFault } from './fault.ts'
import { countOf, grouped } from './wording.ts'

/** Whether agent, endpoints, template, parallelism, time-outs and budget go together. */
export function operationFaults(facts: ContractFacts): readonly Fault[] {
  return [...upstreamRunnerFaults(facts), ...endpointFaults(facts), ...templateFaults(facts), ...parallelFaults(facts), ...phaseFaults(facts), ...budgetFaults(facts)]
}

function upstreamRunnerFaults(facts: ContractFacts): readonly Fault[] {
  const { scoring } = facts.contract
  if (scoring.agent.kind !== 'upstream_runner') return []
  const faults: Fault[] = []
  if (knownProfile(facts)?.kind === 'package') {
    faults.push(fieldFault('runner_without_source', 'scoring.agent.kind', `is upstream_runner, but profile ${scoring.profile} is a package, which has no runner scripts; name a profile with a pinned source.`))
  }
  if (scoring.timing !== 'upstream') {
    faults.push(fieldFault('runner_timing', 'scoring.timing', `is ${scoring.timing}, but OSWorld's own runner waits by its own fixed times; write "upstream".`))
  }
  return faults
}

function endpointFaults({ contract }: ContractFacts): readonly Fault[] {
  if (!needsEndpoints(contract) || contract.operation.endpoints !== undefined) return []
  return [fieldFault('endpoints_missing', 'operation.endpoints', `is missing, and an agent of kind ${contract.scoring.agent.kind} asks a model; name the environment variable that holds the address of one.`)]
}

function templateFaults({ contract: { scoring, operation } }: ContractFacts): readonly Fault[] {
  const { kind } = operation.route
  if (scoring.template !== undefined || kind === 'local') return []
  return [fieldFault('template_missing', 'scoring.template', `is missing, and only the local route can build one; write the name:build_id that \`nx run template-builder:build\` prints for route ${kind}.`)]
}

/** A desktop that no trial waits for is paid for nothing. */
function parallelFaults({ contract: { scoring, operation }, taskCount }: ContractFacts): readonly Fault[] {
  if (taskCount === undefined) return []
  const most = taskCount * scoring.trials
  if (operation.num_envs <= most) return []
  const trials = scoring.trials === 1 ? '' : ` and ${scoring.trials} trials of each`
  return [fieldFault('num_envs_too_many', 'operation.num_envs', `is ${operation.num_envs}, but there ${taskCount === 1 ? 'is' : 'are'} only ${countOf(taskCount, 'task')}${trials}; write at most ${most}.`)]
}

function phaseFaults({ contract: { operation } }: ContractFacts): readonly Fault[] {
  const most = operation.attempt_timeout_seconds
  return Object.entries(operation.phase_timeout_seconds ?? {}).flatMap(([phase, seconds]) => {
    if (seconds === undefined || seconds <= most) return []
    return [fieldFault('phase_timeout_too_long', `operation.phase_timeout_seconds.${phase}`, `is ${grouped(seconds)}, but a whole attempt may take ${grouped(most)}; write at most ${most}, or raise operation.attempt_timeout_seconds.`)]
  })
}

/** What is not counted cannot be limited, so such a budget must not look as if it held. */
function budgetFaults({ contract }: ContractFacts): readonly Fault[] {
  const { scoring: { agent }, operation: { budget = {} } } = contract
  if (!usesModel(contract) || asksEndpoints(contract)) return []
  return (['model_requests', 'model_tokens', 'cost_usd_cents'] as const)
    .filter((field) => budget[field] !== undefined)
    .map((field) => fieldFault('budget_uncounted', `operation.budget.${field}`, `is given, but an agent of kind ${agent.kind} without operation.endpoints asks its model elsewhere, where nothing is counted; name the endpoints that it asks, or take the budget out.`))
}
