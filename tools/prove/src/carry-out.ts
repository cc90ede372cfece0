import { failuresOf } from './expectation.ts'
import type { Findings, Proof, ProofContext, RunsProof } from './proof.ts'
import { ProveError } from './prove-error.ts'
import type { RunFigure } from './record.ts'
import { runOsworld } from './run-osworld.ts'

/** Of `osworld run`, when a mistake of the user's or of the machine's lets nothing begin. */
export const refusedExitCode = 2

/** Does what the proof says and gives its figures. */
export function carryOut(proof: Proof, context: ProofContext): Promise<Findings> {
  return 'plan' in proof ? makeRuns(proof, context) : proof.carryOut(context)
}

/** Makes the proof's runs one after the other. */
async function makeRuns(proof: RunsProof, context: ProofContext): Promise<Findings> {
  const plans = await proof.plan(context)
  const runs: RunFigure[] = []
  for (const [index, plan] of plans.entries()) {
    context.progress(`Run ${index + 1} of ${plans.length}: ${plan.name}`)
    const run = await runOsworld(plan, context)
    if (index === 0) refuseRefused(run)
    runs.push(run)
  }
  return { figures: { runs }, failures: failuresOf(runs) }
}

export function refuseRefused({ exit_code: exitCode }: RunFigure): void {
  if (exitCode === refusedExitCode) throw new ProveError('not_ready', 'The first run was refused, for the reason above; nothing is proven either way.')
}
