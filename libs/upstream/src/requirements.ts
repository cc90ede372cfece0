import { readFile } from 'node:fs/promises'
import { UpstreamError } from './upstream-error.ts'

/** One line of a hash-locked requirements file. */
export interface LockedRequirement {
  readonly name: string
  readonly version: string
  /** SHA-256 of each file that may be installed for it. */
  readonly sha256: readonly string[]
}

/** The text of a requirements file; UTF-8. */
export async function readRequirementsFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new UpstreamError('requirements_unreadable', `The requirements file ${path} cannot be read; check the profile's folder.`, error)
  }
}

/** Parses pip's requirements format as far as it pins: `name==version --hash=sha256:…`, comments, continued lines. */
export function parseRequirements(text: string): LockedRequirement[] {
  return requirementLines(text).flatMap((line) => {
    const pin = /^([A-Za-z0-9][A-Za-z0-9._-]*)\s*==\s*([^\s;]+)/.exec(line)
    if (pin?.[1] === undefined || pin[2] === undefined) return []
    const sha256 = Array.from(line.matchAll(/--hash=sha256:([0-9a-f]{64})\b/g), (match) => match[1] ?? '')
    return [{ name: normalName(pin[1]), version: pin[2], sha256 }]
  })
}

export function countRequirements(text: string): number {
  return requirementLines(text).filter((line) => !line.startsWith('-')).length
}

/** The index treats these spellings of a name as one. */
export function normalName(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, '-')
}

function requirementLines(text: string): string[] {
  return text
    .replace(/\\\r?\n/g, ' ')
    .split(/\r?\n/)
    .map((line) => line.replace(/(^|\s)#.*$/, '').trim())
    .filter((line) => line !== '')
}
