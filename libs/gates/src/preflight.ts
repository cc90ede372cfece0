import type { ContractFile, PreflightEvidence } from '@osworld-e2b/contracts'
import { type CapabilityFacts, checkCapabilities } from './check-capabilities.ts'
import { checkContract, contractNotes } from './check-contract.ts'
import { type ContractFacts, knownProfile } from './contract-facts.ts'
import { digestFaults, type FileDigests } from './digest-rules.ts'
import type { Fault } from './fault.ts'
import { countOf } from './wording.ts'

/** `tasks` is what the contract selects; empty where that could not be told. */
export type PreflightFacts = Omit<ContractFacts, 'taskCount'> &
  CapabilityFacts & {
    /** SHA-256 of the canonical JSON of `authorizedPart`. */
    readonly contractSha256: string
    readonly digests: FileDigests
    /** Whether a folder of Google settings was given and is there; undefined where none was given. */
    readonly hasSettings: boolean | undefined
  }

export type PreflightVerdict = { readonly ok: true; readonly evidence: PreflightEvidence } | { readonly ok: false; readonly faults: readonly Fault[] }

/** All rules of the contract and of its secret files at once: what would be run, or every fault. Authorizing is not looked at. */
export function preflight(facts: PreflightFacts): PreflightVerdict {
  const contractFacts: ContractFacts = { ...facts, taskCount: facts.tasks.length === 0 ? undefined : facts.tasks.length }
  const capability = checkCapabilities(facts)
  const faults = [...checkContract(contractFacts), ...emptyFaults(contractFacts), ...digestFaults(facts.contract, facts.digests), ...capability.faults, ...settingsFaults(facts)]
  if (faults.length > 0) return { ok: false, faults }
  const { contract } = facts
  const { scoring, operation } = contract
  return {
    ok: true,
    evidence: {
      schema_version: 1,
      contract_sha256: facts.contractSha256,
      profile: scoring.profile,
      ...provenanceOf(contractFacts),
      suite: scoring.suite,
      task_count: facts.tasks.length,
      ...(facts.inventory === undefined ? {} : { inventory_sha256: facts.inventory.inventory_sha256 }),
      trials: scoring.trials,
      ...(scoring.template === undefined ? {} : { template: scoring.template }),
      route: operation.route,
      agent: agentEvidence(scoring.agent),
      timing: scoring.timing,
      capabilities: capability.capabilities,
      notes: [...contractNotes(contractFacts), ...capability.notes],
    },
  }
}

/** Drive tasks of our own runner and of OSWorld's read Google settings from a folder. */
function settingsFaults({ tasks, hasSettings, contract }: PreflightFacts): readonly Fault[] {
  if (hasSettings === false) return [{ rule: 'settings_missing', message: 'The folder that --settings names is not there; give the one that holds google/settings.json and googledrive/.' }]
  const count = tasks.filter(({ needsDrive }) => needsDrive).length
  if (count === 0 || hasSettings === true) return []
  return [{ rule: 'settings_missing', message: `${countOf(count, 'task')} of ${contract.scoring.suite} ${count === 1 ? 'signs' : 'sign'} in to Google, and no settings were given; give the folder with google/settings.json and googledrive/ with --settings.` }]
}

/** A profile or suite that there is not has no tasks either, and is told once. */
function emptyFaults(facts: ContractFacts): readonly Fault[] {
  const { profile, suite } = facts.contract.scoring
  const known = knownProfile(facts)
  const isKnown = known?.kind === 'package' || (known?.kind === 'git' && Object.hasOwn(known.git.suites, suite))
  if (facts.taskCount !== undefined || !isKnown) return []
  return [{ rule: 'selection_empty', message: `No task of ${profile}/${suite} is selected; correct scoring.selection or scoring.domains, or leave them out for the whole suite.` }]
}

function provenanceOf(facts: ContractFacts): Pick<PreflightEvidence, 'provenance' | 'inferred' | 'unverified'> {
  const profile = knownProfile(facts)
  if (profile?.kind !== 'git') return { inferred: false, unverified: false }
  if (!facts.isBuiltIn) return { provenance: 'unverified', inferred: false, unverified: true }
  const { source_commit_provenance: provenance } = profile.git
  return { provenance, inferred: provenance === 'inferred_from_run_date', unverified: false }
}

function agentEvidence(agent: ContractFile['scoring']['agent']): PreflightEvidence['agent'] {
  switch (agent.kind) {
    case 'none':
      return { kind: agent.kind }
    case 'scripted':
      return { kind: agent.kind, name: agent.scripts }
    case 'upstream_runner':
      return { kind: agent.kind, name: agent.runner, model: agent.model }
    case 'upstream':
      return { kind: agent.kind, name: agent.name, model: agent.model }
    case 'module':
      return { kind: agent.kind, name: agent.class, model: agent.model }
    case 'http':
      return { kind: agent.kind, name: agent.name, ...(agent.model === undefined ? {} : { model: agent.model }) }
  }
}
