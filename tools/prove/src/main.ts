import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UpstreamError } from '@osworld-e2b/upstream'
import { type Choice, listOf, readCommandLine } from './command-line.ts'
import { listenForInterrupts } from './interrupts.ts'
import { killMatrix } from './kill-matrix.ts'
import { osworldTasks } from './osworld-tasks.ts'
import type { Proof } from './proof.ts'
import { prove, type ProveOptions, tryOut } from './prove.ts'
import { ProveError, type ProveErrorCode } from './prove-error.ts'
import { starterFour, starterTen } from './starter.ts'
import { upstreamRunner } from './upstream-runner.ts'

const checkout = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..')
const proofs: readonly Proof[] = [starterTen, starterFour, osworldTasks, upstreamRunner, killMatrix]
const exitCodes: Readonly<Record<ProveErrorCode, number>> = { usage: 2, not_ready: 2, interrupted: 130 }

async function runProof(proof: Proof, choice: Choice): Promise<number> {
  const interrupts = listenForInterrupts(process)
  try {
    const options: ProveOptions = {
      ...choice,
      checkout,
      command: [process.execPath, choice.cli],
      environment: process.env,
      now: () => new Date(),
      interrupts,
      progress: (line) => void process.stderr.write(`${line}\n`),
    }
    const isWhole = choice.cells.length === 0
    const { failures } = isWhole ? await prove(proof, options) : await tryOut(proof, { ...options, cells: choice.cells })
    for (const failure of failures) process.stderr.write(`${failure}\n`)
    process.stdout.write(`${isWhole ? proof.name : `${proof.name}, a part that leaves no record`}: ${failures.length === 0 ? 'passed' : 'failed'}\n`)
    return failures.length === 0 ? 0 : 1
  } finally {
    interrupts.dispose()
  }
}

try {
  const choice = readCommandLine(process.argv.slice(2), { proofs, checkout, now: new Date() })
  if (choice.proof === undefined) process.stdout.write(listOf(proofs))
  else process.exitCode = await runProof(choice.proof, choice)
} catch (error) {
  if (!(error instanceof ProveError) && !(error instanceof UpstreamError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = error instanceof ProveError ? exitCodes[error.code] : 2
}
