import { execa } from 'execa'
import { ProveError } from './prove-error.ts'
import type { ProofRecord } from './record.ts'

/** Commit of the checkout, and whether anything but proofs differs from it; a place without git is refused. */
export async function readCommit(checkout: string): Promise<ProofRecord['commit']> {
  const sha = await git(checkout, ['rev-parse', 'HEAD'])
  // A proof's own record, not yet committed, must not spoil the next one.
  const changes = await git(checkout, ['status', '--porcelain', '--', '.', ':(exclude)validation/proofs'])
  return { sha, dirty: changes !== '' }
}

async function git(checkout: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await execa('git', ['-C', checkout, ...args])
    return stdout.trim()
  } catch (error) {
    throw new ProveError('not_ready', 'A proof names the commit that it shows something of, and git does not know this folder; use a git checkout.', { cause: error })
  }
}
