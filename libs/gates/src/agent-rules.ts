import { byNearness } from '@osworld-e2b/contracts'
import { asksEndpoints, isPaid, usesModel } from './any-contract.ts'
import { type ContractFacts, knownProfile } from './contract-facts.ts'
import { type Fault, fieldFault } from './fault.ts'
import { listOf } from './wording.ts'

const namedNearest = 3

/** Arguments of OSWorld's runner script that are the route's business and not the contract's. */
const ownArguments = ['provider_name', 'path_to_vm', 'headless', 'test_all_meta_path', 'test_config_base_dir', 'result_dir', 'num_envs', 'vm_secret_mount']

/** Settings that the contract has a field of its own for. */
const ownFields: Readonly<Record<string, string>> = { model: 'scoring.agent.model', max_steps: 'scoring.max_steps', screen_width: 'scoring.screen.width', screen_height: 'scoring.screen.height' }

/** Whether the agent can be run on the profile, and its settings are the agent's own. */
export function agentFaults(facts: ContractFacts): readonly Fault[] {
  const { agent } = facts.contract.scoring
  if (agent.kind === 'upstream_runner') return Object.keys(agent.settings).flatMap(settingFaults)
  if (knownProfile(facts)?.kind !== 'git') return [...scriptFaults(facts), ...nameFaults(facts), ...modelFaults(facts)]
  // Told by the rules of the comparison.
  if (facts.contract.comparison.mode !== 'none') return []
  return [fieldFault('agent_not_runnable', 'scoring.agent.kind', `is ${agent.kind}, which cannot be run on the pinned source ${facts.contract.scoring.profile} yet; write upstream_runner, or name a package profile.`)]
}

/** What is known of the agent's spending before it acts. */
export function agentNotes({ contract }: ContractFacts): readonly string[] {
  if (!usesModel(contract) || asksEndpoints(contract)) return []
  return [`an agent of kind ${contract.scoring.agent.kind} without endpoints asks its model elsewhere: its requests and what they cost are not known`]
}

/** Told before anything is started, in place of every attempt's own refusal. */
function nameFaults({ contract: { scoring }, agents }: ContractFacts): readonly Fault[] {
  const { agent, profile } = scoring
  if (agent.kind !== 'upstream' || agents === undefined || agents.names.includes(agent.name)) return []
  const path = 'scoring.agent.name'
  const why = Object.hasOwn(agents.refused, agent.name) ? agents.refused[agent.name] : undefined
  if (why !== undefined) return [fieldFault('agent_unknown', path, `is "${agent.name}", which cannot be run here: ${why}.`)]
  return [fieldFault('agent_unknown', path, `is "${agent.name}", and profile ${profile} brings no agent of that name; write one of the nearest: ${listOf(byNearness(agent.name, agents.names).slice(0, namedNearest))}.`)]
}

/** An agent in our own loop takes its model apart from its settings. */
function modelFaults({ contract: { scoring: { agent } } }: ContractFacts): readonly Fault[] {
  return 'settings' in agent && Object.hasOwn(agent.settings, 'model') ? settingFaults('model') : []
}

function settingFaults(name: string): readonly Fault[] {
  const path = `scoring.agent.settings.${name}`
  if (ownArguments.includes(name)) return [fieldFault('setting_protected', path, 'is decided by this program for every attempt; take it out.')]
  const field = Object.hasOwn(ownFields, name) ? ownFields[name] : undefined
  return field === undefined ? [] : [fieldFault('setting_protected', path, `has a field of its own; write ${field} instead.`)]
}

/** What is paid for must not change under its authorization. */
function scriptFaults({ contract }: ContractFacts): readonly Fault[] {
  const { agent } = contract.scoring
  if (agent.kind !== 'scripted' || agent.scripts_sha256 !== undefined || !isPaid(contract)) return []
  return [fieldFault('scripts_sha256_missing', 'scoring.agent.scripts_sha256', 'is missing, and a run that may cost money names what its agent does; write the digest that `--dry-run --json` shows.')]
}
