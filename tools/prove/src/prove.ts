import { failuresOf } from './expectation.ts'
import { readCommit } from './commit.ts'
import { readMachine } from './machine.ts'
import type { Proof } from './proof.ts'
import { ProveError } from './prove-error.ts'
import { type ProofRecord, type RunFigure, writeRecord } from './record.ts'
import { runOsworld, type RunOsworldOptions } from './run-osworld.ts'

/** Of `osworld run`, when a mistake of the user's or of the machine's lets nothing begin. */
const refusedExitCode = 2

export interface ProveOptions extends RunOsworldOptions {
  readonly checkout: string
  /** Whether `command` is the checkout's own program. */
  readonly ownProgram: boolean
  /** Folder that the record goes to. */
  readonly records: string
  readonly environment: NodeJS.ProcessEnv
  readonly now: () => Date
}

/** Makes the proof's runs one after the other and writes the record, whether the claim holds or not. */
export async function prove(proof: Proof, options: ProveOptions): Promise<ProofRecord> {
  const startedAt = options.now()
  const before = await readCommit(options.checkout)
  const machine = await readMachine(options.environment)
  const plans = await proof.plan(options)
  const runs: RunFigure[] = []
  for (const [index, plan] of plans.entries()) {
    options.progress(`Run ${index + 1} of ${plans.length}: ${plan.name}`)
    const run = await runOsworld(plan, options)
    if (index === 0 && run.exit_code === refusedExitCode) throw new ProveError('not_ready', 'The first run was refused, for the reason above; nothing is proven either way.')
    runs.push(run)
  }
  const after = await readCommit(options.checkout)
  const failures = [...failuresOf(runs)]
  const record: ProofRecord = {
    schema_version: 1,
    proof: proof.name,
    claim: proof.claim,
    started_at: startedAt.toISOString(),
    ended_at: options.now().toISOString(),
    commit: { sha: before.sha, dirty: before.dirty || after.dirty || after.sha !== before.sha },
    own_program: options.ownProgram,
    machine,
    figures: { runs },
    failures,
    passed: failures.length === 0,
  }
  options.progress(`record: ${await writeRecord(options.records, record)}`)
  return record
}
