import { LocalE2bError } from '../error.ts'

const namePattern = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The pairs of an ENV step; throws `bad_request` for a name that no shell accepts. */
export function environmentPairs(args: readonly string[]): readonly (readonly [name: string, value: string])[] {
  const pairs: (readonly [string, string])[] = []
  for (let index = 0; index + 1 < args.length; index += 2) {
    const name = args[index] ?? ''
    if (!namePattern.test(name)) throw new LocalE2bError('bad_request', `'${name}' is not a name for an environment variable.`)
    pairs.push([name, args[index + 1] ?? ''])
  }
  return pairs
}

/** Whether the guest's shell would change this value: then it is asked, else the value stands as it is. */
export function needsExpansion(value: string): boolean {
  return /[$`\\]/.test(value)
}

/** A command that prints the value as the shell expands it inside double quotes; `\$` stays a dollar. */
export function expansionCommand(value: string): string {
  return `printf '%s' "${value.replaceAll('"', '\\"')}"`
}
