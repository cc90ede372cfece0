import { isPaid } from './any-contract.ts'
import { type ContractFacts, type InventoryFigures, knownProfile } from './contract-facts.ts'
import { type Fault, fieldFault } from './fault.ts'
import { grouped } from './wording.ts'

/** Whether the contract's figures are those of the inventory, and the inventory is the one of its profile and suite. */
export function inventoryFaults(facts: ContractFacts): readonly Fault[] {
  const profile = knownProfile(facts)
  if (profile === undefined) return []
  const isGit = profile.kind === 'git'
  // What is paid for must not change under its authorization.
  const isRequired = isGit || isPaid(facts.contract)
  if (isGit && !Object.hasOwn(profile.git.suites, facts.contract.scoring.suite)) return []
  if (facts.inventory === undefined) return missingInventory(facts, isGit, isRequired)
  return [...otherInventory(facts, facts.inventory), ...countFaults(facts, facts.inventory, isRequired), ...digestFaults(facts, facts.inventory, isRequired)]
}

/** A folder of the user's own tasks may have no inventory, but then it cannot be held to figures either. */
function missingInventory({ contract }: ContractFacts, isGit: boolean, isRequired: boolean): readonly Fault[] {
  const { profile, suite, task_count: count, inventory_sha256: digest } = contract.scoring
  if (!isRequired && count === undefined && digest === undefined) return []
  const path = digest === undefined && count !== undefined ? 'scoring.task_count' : 'scoring.inventory_sha256'
  return [fieldFault('inventory_missing', path, `cannot be checked, because no inventory of ${profile}/${suite} was found; ${isGit ? 'restore the file that the profile names' : isRequired ? 'make one with `osworld inventory build`, since a run that may cost money names its tasks' : 'make one with `osworld inventory build`, or leave task_count and inventory_sha256 out'}.`)]
}

function otherInventory({ contract, profiles }: ContractFacts, inventory: InventoryFigures): readonly Fault[] {
  const { profile, suite } = contract.scoring
  // A suite that is named by its folder brought the inventory that lies in it.
  const wrongName = (inventory.suite !== suite && !suite.includes('/')) || (inventory.profile ?? profile) !== profile
  const pinned = profiles.profiles[profile]?.commit
  const wrongCommit = pinned !== undefined && inventory.commit !== undefined && inventory.commit !== pinned
  if (!wrongName && !wrongCommit) return []
  const found = `${inventory.profile ?? profile}/${inventory.suite}`
  const what = wrongName ? `is of ${found}` : `is of commit ${inventory.commit ?? ''}, not ${pinned ?? ''}`
  return [{ rule: 'inventory_other', message: `The inventory that was read for ${profile}/${suite} ${what}; restore the file that the profile names.` }]
}

function countFaults({ contract }: ContractFacts, inventory: InventoryFigures, isRequired: boolean): readonly Fault[] {
  const { profile, suite, task_count: count } = contract.scoring
  const right = inventory.task_count
  if (count === right || (count === undefined && !isRequired)) return []
  const next = `write ${right}, the number of tasks of ${profile}/${suite}.`
  if (count === undefined) return [fieldFault('task_count_missing', 'scoring.task_count', `is missing; ${next}`)]
  return [fieldFault('task_count_other', 'scoring.task_count', `is ${grouped(count)}, but the inventory has ${grouped(right)}; ${next}`)]
}

function digestFaults({ contract }: ContractFacts, inventory: InventoryFigures, isRequired: boolean): readonly Fault[] {
  const { profile, suite, inventory_sha256: digest } = contract.scoring
  const right = inventory.inventory_sha256
  if (digest === right || (digest === undefined && !isRequired)) return []
  if (digest === undefined) return [fieldFault('inventory_sha256_missing', 'scoring.inventory_sha256', `is missing; write ${right}, the digest of ${profile}/${suite}.`)]
  return [fieldFault('inventory_sha256_other', 'scoring.inventory_sha256', `is ${digest}, but the inventory of ${profile}/${suite} has ${right}; write that digest, or find out who changed the tasks.`)]
}
