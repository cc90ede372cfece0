import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from '../usage-error.ts'

export interface Place {
  /** What is written there, as it stands in the refusal. */
  readonly what: string
  readonly folder: string
  readonly leastBytes: number
  readonly remedy: string
}

const mib = 2 ** 20
/** Evidence of some attempts. */
export const leastRunBytes = 256 * mib
/** What the applications of one task write into their sandbox. */
export const leastSandboxBytes = 256 * mib

/** Refuses to start where a disk is so full that the run would break on its way. */
export async function requireFreeSpace(places: readonly Place[]): Promise<void> {
  for (const { what, folder, leastBytes, remedy } of places) {
    const { bavail, bsize } = await statfs(await nearestFolder(folder))
    const free = bavail * bsize
    if (free >= leastBytes) continue
    throw new UsageError(`The disk of ${what} (${folder}) has ${Math.floor(free / mib)} MiB free, and ${leastBytes / mib} MiB are needed: free some, ${remedy}.`)
  }
}

/** The folder itself, or the closest one above it that exists. */
export async function nearestFolder(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => undefined)
  return found !== undefined || dirname(folder) === folder ? folder : nearestFolder(dirname(folder))
}

/** Where a run on local sandboxes writes. */
export function placesOf(run: { readonly runFolder: string; readonly dataFolder: string; readonly numEnvs: number }): readonly Place[] {
  return [
    { what: 'the run folder', folder: run.runFolder, leastBytes: leastRunBytes, remedy: 'or name another place with --results' },
    { what: "the sandboxes' data folder", folder: run.dataFolder, leastBytes: leastSandboxBytes * run.numEnvs, remedy: 'such as by `osworld clean`, or name another place with --data' },
  ]
}
