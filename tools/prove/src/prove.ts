import { carryOut } from './carry-out.ts'
import { readCommit } from './commit.ts'
import { readMachine } from './machine.ts'
import type { Findings, Proof } from './proof.ts'
import { type ProofRecord, writeRecord } from './record.ts'
import type { RunOsworldOptions } from './run-osworld.ts'

export interface ProveOptions extends RunOsworldOptions {
  readonly checkout: string
  /** Whether `command` is the checkout's own program. */
  readonly ownProgram: boolean
  /** Folder that the record goes to. */
  readonly records: string
  readonly environment: NodeJS.ProcessEnv
  readonly now: () => Date
}

/** Carries the proof out and writes the record, whether the claim holds or not. */
export async function prove(proof: Proof, options: ProveOptions): Promise<ProofRecord> {
  const startedAt = options.now()
  const before = await readCommit(options.checkout)
  const machine = await readMachine(options.environment)
  const { figures, failures } = await tryOut(proof, { ...options, cells: [] })
  const after = await readCommit(options.checkout)
  const record: ProofRecord = {
    schema_version: 1,
    proof: proof.name,
    claim: proof.claim,
    started_at: startedAt.toISOString(),
    ended_at: options.now().toISOString(),
    commit: { sha: before.sha, dirty: before.dirty || after.dirty || after.sha !== before.sha },
    own_program: options.ownProgram,
    machine,
    figures,
    failures: [...failures],
    passed: failures.length === 0,
  }
  options.progress(`record: ${await writeRecord(options.records, record)}`)
  return record
}

export interface TryOptions extends RunOsworldOptions {
  readonly checkout: string
  readonly environment: NodeJS.ProcessEnv
  /** Only these parts of the proof; all when empty. */
  readonly cells: readonly string[]
}

/** Carries the proof, or parts of it, out without a record. */
export async function tryOut(proof: Proof, options: TryOptions): Promise<Findings> {
  const releases: (() => Promise<void>)[] = []
  try {
    return await carryOut(proof, { ...options, atEnd: (release) => void releases.unshift(release) })
  } finally {
    for (const release of releases) await release()
  }
}
