import type { RunPlan } from './run-osworld.ts'

export interface ProofPlaces {
  /** Root of the checkout. */
  readonly checkout: string
  /** Folder of this proof's runs, for files of its own. */
  readonly results: string
  readonly environment: NodeJS.ProcessEnv
}

/** One long proof: a claim, and the runs whose figures show it. */
export interface Proof {
  readonly name: string
  readonly claim: string
  /** The runs to make, in order; refuses with a sentence when something that it needs is missing. */
  plan(places: ProofPlaces): Promise<readonly RunPlan[]>
}
