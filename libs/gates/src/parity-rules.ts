import type { Comparison, GitProfile } from '@osworld-e2b/contracts'
import { type ContractFacts, knownProfile } from './contract-facts.ts'
import { type Fault, fieldFault, type Rule } from './fault.ts'
import { parityLane } from './parity-lane.ts'
import { parityRequestFaults } from './parity-requests.ts'
import { paritySettingFaults } from './parity-settings.ts'
import { listOf } from './wording.ts'

type Parity = Extract<Comparison, { mode: 'public_docker_parity' }>
type Reference = NonNullable<GitProfile['reference']>

/** Whether a contract that is held against the public reference measures the same thing as it. */
export function parityFaults(facts: ContractFacts): readonly Fault[] {
  const { comparison } = facts.contract
  if (comparison.mode === 'none') return []
  const profile = knownProfile(facts)
  if (profile === undefined) return []
  if (profile.kind === 'package' || profile.git.reference === undefined || !facts.isBuiltIn) return [withoutReference(facts)]
  const { git } = profile
  return [...selectionFaults(facts), ...agentFaults(facts, git), ...laneFaults(facts), ...parityRequestFaults(facts), ...referenceFaults(comparison, profile.git.reference)]
}

function withoutReference({ contract, profiles, isBuiltIn }: ContractFacts): Fault {
  const { profile } = contract.scoring
  const hasReference = profiles.profiles[profile]?.reference !== undefined
  const able = Object.entries(profiles.profiles).flatMap(([name, { reference }]) => (reference === undefined ? [] : [name]))
  const why = hasReference && !isBuiltIn ? `profile ${profile} is not the one of this project and is unverified` : `profile ${profile} has no public reference`
  const next = able.length === 0 || hasReference ? '' : `name ${listOf(able)}, or `
  return fieldFault('parity_profile', 'comparison.mode', `is public_docker_parity, but ${why}; ${next}set the mode to none.`)
}

function selectionFaults({ contract: { scoring, operation } }: ContractFacts): readonly Fault[] {
  if (!operation.route.final) return []
  const chosen = (['selection', 'domains'] as const).filter((field) => scoring[field] !== undefined)
  return chosen.map((field) => fieldFault('parity_selection', `scoring.${field}`, 'is given, but a final parity run covers the whole suite; leave it out, or set operation.route.final to false.'))
}

function agentFaults({ contract: { scoring } }: ContractFacts, git: GitProfile): readonly Fault[] {
  const { agent, profile } = scoring
  if (agent.kind !== 'upstream_runner') {
    return [fieldFault('parity_agent', 'scoring.agent.kind', `is ${agent.kind}, but the parity comparison is of OSWorld's own runner; write upstream_runner, or set comparison.mode to none.`)]
  }
  const faults: Fault[] = []
  if (agent.runner !== git.runner) {
    faults.push(fieldFault('parity_agent', 'scoring.agent.runner', `is ${agent.runner}, but profile ${profile} is compared with ${git.runner}; write that, or set comparison.mode to none.`))
  }
  const model = { model_repository: parityLane.modelRepository, model_commit: git.reference?.model_commit }
  for (const field of ['model_repository', 'model_commit'] as const) {
    if (agent[field] !== model[field]) {
      faults.push(fieldFault('parity_model', `scoring.agent.${field}`, `is ${agent[field] ?? 'missing'}, but the reference run had ${model[field] ?? 'none'}; write that, or set comparison.mode to none.`))
    }
  }
  return [...faults, ...paritySettingFaults(agent.settings)]
}

function laneFaults({ contract: { scoring } }: ContractFacts): readonly Fault[] {
  const { screen, max_steps: steps, trials } = scoring
  const found = { max_steps: steps, trials, 'screen.width': screen.width, 'screen.height': screen.height, enable_proxy: scoring.enable_proxy }
  // The runner scripts of the pinned sources turn the proxy on whatever they are told.
  const wanted = { max_steps: parityLane.maxSteps, trials: parityLane.trials, 'screen.width': parityLane.screen.width, 'screen.height': parityLane.screen.height, enable_proxy: true }
  return unequal('scoring', found, wanted).map(([path, is, had]) => fieldFault('parity_setting', path, `is ${is}, but the reference run had ${had}; write that, or set comparison.mode to none.`))
}

function referenceFaults(comparison: Parity, reference: Reference): readonly Fault[] {
  const found = { reference_dataset_commit: comparison.reference_dataset_commit, reference_total_tasks: comparison.reference_total_tasks, reference_scored_tasks: comparison.reference_scored_tasks }
  const wanted = { reference_dataset_commit: reference.dataset_commit, reference_total_tasks: parityLane.totalTasks, reference_scored_tasks: parityLane.scoredTasks }
  const rule: Rule = 'parity_reference'
  const faults = unequal('comparison', found, wanted).map(([path, is, has]) => fieldFault(rule, path, `is ${is}, but the public reference has ${has}; write that.`))
  if (!(Math.abs(Number(comparison.reference_score) - parityLane.score) <= parityLane.scoreTolerance)) {
    faults.push(fieldFault(rule, 'comparison.reference_score', `is "${comparison.reference_score}", but the public reference has "${parityLane.score}"; write that.`))
  }
  if (Number(comparison.absolute_score_delta_lte) !== parityLane.delta) {
    faults.push(fieldFault(rule, 'comparison.absolute_score_delta_lte', `is "${comparison.absolute_score_delta_lte}", but the parity band is "${parityLane.delta}"; write that.`))
  }
  return faults
}

type Figures = Readonly<Record<string, string | number | boolean>>

function unequal(root: string, found: Figures, wanted: Figures): (readonly [path: string, is: string, had: string])[] {
  return Object.entries(wanted)
    .filter(([name, value]) => found[name] !== value)
    .map(([name, value]) => [`${root}.${name}`, String(found[name]), String(value)] as const)
}
