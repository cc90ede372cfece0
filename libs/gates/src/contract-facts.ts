import type { ContractFile, GitProfile, Inventory, Profiles } from '@osworld-e2b/contracts'

/** What the rules of a contract are told; all of it was read or counted by the caller. */
export interface ContractFacts {
  readonly contract: ContractFile
  readonly profiles: Profiles
  /** Whether name, repository and commit of the contract's profile are those of a profile of this project. */
  readonly isBuiltIn: boolean
  /** Of the contract's profile and suite; a suite of our own has no profile in its inventory. */
  readonly inventory: InventoryFigures | undefined
  /** Profiles that take OSWorld's code from the package index, such as `package-1.0.2`. */
  readonly packageProfiles: readonly string[]
  /** How many tasks the contract selects; undefined where they could not be told. */
  readonly taskCount: number | undefined
  /** Of OSWorld's package by name; undefined where they were not read. */
  readonly agents?: PackageAgents | undefined
}

export interface PackageAgents {
  readonly names: readonly string[]
  /** Agents that the package brings and that cannot be run here, with the end of a sentence that says why. */
  readonly refused: Readonly<Record<string, string>>
}

export type InventoryFigures = Pick<Inventory, 'suite' | 'task_count' | 'inventory_sha256'> & Partial<Pick<Inventory, 'profile' | 'commit'>>

export type KnownProfile = { readonly kind: 'git'; readonly git: GitProfile } | { readonly kind: 'package' }

/** The contract's profile; undefined when there is none of that name. */
export function knownProfile({ contract, profiles, packageProfiles }: Pick<ContractFacts, 'contract' | 'profiles' | 'packageProfiles'>): KnownProfile | undefined {
  const name = contract.scoring.profile
  if (packageProfiles.includes(name)) return { kind: 'package' }
  const git = Object.hasOwn(profiles.profiles, name) ? profiles.profiles[name] : undefined
  return git === undefined ? undefined : { kind: 'git', git }
}
