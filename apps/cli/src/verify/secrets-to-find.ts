import type { Contract } from '@osworld-e2b/contracts'
import { type Secret, secret } from '@osworld-e2b/redaction'
import { UsageError } from '../usage-error.ts'

/** Of variables that nobody named: stand-ins such as `none` and `EMPTY` for a key that is not needed stand in every text. */
const shortestUnnamed = 12
/** What redaction takes. */
const shortestNamed = 4

export interface SecretVariables {
  /** By the user; each has to be set. */
  readonly named: readonly string[]
  readonly contract: Contract | undefined
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** The values that must be in no file of a run, by the names of their variables; throws `UsageError` for a named one that cannot be looked for. */
export function secretsToFind({ named, contract, environment }: SecretVariables): readonly Secret[] {
  const known = ['E2B_API_KEY', ...(contract?.operation.endpoints ?? []).flatMap(({ api_key_variable: name }) => name ?? [])]
  const unnamed = known.filter((name) => (environment[name] ?? '').length >= shortestUnnamed)
  for (const name of named) requireValue(name, environment[name])
  return [...new Set([...named, ...unnamed])].map((name) => secret(environment[name] ?? '', name))
}

function requireValue(name: string, value: string | undefined): void {
  if (value === undefined || value === '') throw new UsageError(`--secret-variable: ${name} is not set in the environment, so its value cannot be looked for; set it, or leave the name out.`)
  if (value.length < shortestNamed) throw new UsageError(`--secret-variable: the value of ${name} has under ${shortestNamed} characters and stands in every text; leave the name out.`)
}
