import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Proof } from './proof.ts'
import { ProveError } from './prove-error.ts'

export interface Choice {
  /** Undefined: the proofs are listed. */
  readonly proof: Proof | undefined
  readonly cli: string
  readonly ownProgram: boolean
  readonly records: string
  readonly results: string
  /** Only these parts of the proof; all when empty. */
  readonly cells: readonly string[]
}

export interface CommandLineContext {
  readonly proofs: readonly Proof[]
  readonly checkout: string
  readonly now: Date
}

/** Reads the arguments; every mistake is one sentence. */
export function readCommandLine(args: readonly string[], { proofs, checkout, now }: CommandLineContext): Choice {
  const { values, positionals } = parse(args)
  const [name, ...more] = positionals
  if (more.length > 0) throw new ProveError('usage', `One proof at a time: ${name ?? ''} or ${more.join(' or ')}.`)
  const proof = proofs.find((candidate) => candidate.name === name)
  if (name !== undefined && proof === undefined) throw new ProveError('usage', `There is no proof ${name}; there are ${proofs.map((known) => known.name).join(', ')}.`)
  // The record names this checkout's commit, which says nothing of a program from elsewhere.
  if (values.cli !== undefined && values.records === undefined) throw new ProveError('usage', '--cli needs --records: validation/proofs holds only proofs of this checkout.')
  const cells = values.cell ?? []
  const known = proof === undefined || 'plan' in proof ? [] : proof.cells
  const strange = cells.find((cell) => !known.includes(cell))
  if (strange !== undefined) throw new ProveError('usage', known.length === 0 ? `${name ?? 'The list of proofs'} has no cells; leave --cell out.` : `${name ?? ''} has no cell ${strange}; there are ${known.join(', ')}.`)
  const stamp = now.toISOString().replaceAll(/[^0-9]/g, '').slice(0, 14)
  return {
    proof,
    cli: resolve(values.cli ?? join(checkout, 'apps', 'cli', 'dist', 'main.js')),
    ownProgram: values.cli === undefined,
    records: resolve(values.records ?? join(checkout, 'validation', 'proofs')),
    results: join(resolve(values.results ?? join(checkout, 'results', 'proofs')), `${stamp}-${basename(name ?? 'none')}`),
    cells,
  }
}

function parse(args: readonly string[]) {
  try {
    const options = { cli: { type: 'string' }, records: { type: 'string' }, results: { type: 'string' }, cell: { type: 'string', multiple: true } } as const
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new ProveError('usage', `${error.message.split('. ')[0] ?? ''}; use: npm run prove [name] [-- --cli FILE --records FOLDER --results FOLDER --cell NAME].`, { cause: error })
  }
}

/** One line a proof. */
export function listOf(proofs: readonly Proof[]): string {
  const width = Math.max(...proofs.map(({ name }) => name.length))
  return proofs.map(({ name, claim }) => `${name.padEnd(width)}  ${claim}\n`).join('')
}
