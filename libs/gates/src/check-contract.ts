import { agentFaults, agentNotes } from './agent-rules.ts'
import { type ContractFacts, knownProfile } from './contract-facts.ts'
import type { Fault } from './fault.ts'
import { inventoryFaults } from './inventory-rules.ts'
import { operationFaults } from './operation-rules.ts'
import { parityFaults } from './parity-rules.ts'
import { profileFaults } from './profile-rules.ts'

/** Every rule that the contract itself breaks, whether or not it is to be executed; empty when it breaks none. */
export function checkContract(facts: ContractFacts): readonly Fault[] {
  return [...profileFaults(facts), ...agentFaults(facts), ...inventoryFaults(facts), ...operationFaults(facts), ...parityFaults(facts)]
}

/** What is allowed and yet must be known to whoever reads the result. */
export function contractNotes(facts: ContractFacts): readonly string[] {
  const { scoring } = facts.contract
  const profile = knownProfile(facts)
  const notes: string[] = [...agentNotes(facts)]
  if (profile?.kind === 'git') {
    if (!facts.isBuiltIn) notes.push(`profile ${scoring.profile} is not one of this project's and is unverified`)
    if (profile.git.source_commit_provenance === 'inferred_from_run_date') notes.push(`the source match of profile ${scoring.profile} is inferred, not authenticated`)
    if (scoring.agent.kind === 'upstream_runner' && scoring.agent.runner !== profile.git.runner) notes.push(`runner ${scoring.agent.runner} is another than the profile's ${profile.git.runner}`)
  }
  if (scoring.selection !== undefined || scoring.domains !== undefined) notes.push(`a selection of suite ${scoring.suite}, not the whole of it`)
  return notes
}
