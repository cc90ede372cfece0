import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { VerifyFault } from '@osworld-e2b/contracts'
import { isAbsent } from './is-absent.ts'
import { isText } from './read-text.ts'

/** Finds secrets in a stream and tells where, never what. */
export interface Scanner {
  scan(stream: Readable): Promise<readonly SecretPlace[]>
}

export interface SecretPlace {
  readonly label: string
  /** In bytes from the start of the stream. */
  readonly offset: number
}

/** Faults of one file, by its path relative to the run folder. */
export type SecretFinder = (path: string) => Promise<readonly VerifyFault[]>

export interface FinderInput {
  /** Of the run. */
  readonly folder: string
  readonly scanner: Scanner
  /** Labels that are names of variables; others are kinds of key. */
  readonly variables: ReadonlySet<string>
}

/** Looks through the text files of a run folder as streams; what begins with binary bytes is passed over. */
export function secretFinder({ folder, scanner, variables }: FinderInput): SecretFinder {
  return async (path) => {
    const file = join(folder, path)
    try {
      return (await isText(file)) ? secretFaults(path, await scanner.scan(createReadStream(file)), variables) : []
    } catch (error) {
      // While a run goes on, files come and go.
      if (isAbsent(error)) return []
      throw error
    }
  }
}

/** One fault for each secret of a file, at its first place. */
export function secretFaults(path: string, places: readonly SecretPlace[], variables: ReadonlySet<string>): readonly VerifyFault[] {
  return [...new Set(places.map(({ label }) => label))].map((label) => {
    const offsets = places.filter((place) => place.label === label).map(({ offset }) => offset)
    const more = offsets.length > 1 ? ` and at ${offsets.length - 1} more ${offsets.length === 2 ? 'place' : 'places'}` : ''
    const what = variables.has(label) ? `the value of ${label}` : `what looks like a secret (${label})`
    const message = `${path} holds ${what} at byte ${Math.min(...offsets)}${more}: keep the folder from others, and have that secret replaced where it was issued.`
    return { kind: 'secret', path, message }
  })
}
