import type { ProofRecord } from './record.ts'
import type { RunOsworldOptions, RunPlan } from './run-osworld.ts'

export interface ProofPlaces {
  /** Root of the checkout. */
  readonly checkout: string
  /** Folder of this proof's runs, for files of its own. */
  readonly results: string
  readonly environment: NodeJS.ProcessEnv
  /** Takes what must be let go of when the proof is over, however it ends. */
  readonly atEnd: (release: () => Promise<void>) => void
}

interface Claim {
  readonly name: string
  readonly claim: string
}

/** A claim that the figures of some runs show. */
export interface RunsProof extends Claim {
  /** The runs to make, in order; refuses with a sentence when something that it needs is missing. */
  plan(places: ProofPlaces): Promise<readonly RunPlan[]>
}

export interface ProofContext extends ProofPlaces, RunOsworldOptions {
  /** Only these parts of the proof; all when empty. */
  readonly cells: readonly string[]
}

export interface Findings {
  readonly figures: ProofRecord['figures']
  /** One sentence each; none when the claim holds. */
  readonly failures: readonly string[]
}

/** A claim that needs more than runs one after the other. */
export interface OwnProof extends Claim {
  /** Names of its parts, for whoever wants one of them. */
  readonly cells: readonly string[]
  carryOut(context: ProofContext): Promise<Findings>
}

/** One long proof. */
export type Proof = RunsProof | OwnProof
