import { access, lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { acquireFileLock, type FileLock } from './environment-lock.ts'
import { markerPath, readMarker } from './environment-marker.ts'
import type { Python } from './find-python.ts'
import { environmentDigest } from './python-environment.ts'

export interface EnvironmentFact {
  readonly digest: string
  readonly folder: string
  readonly lockFile: string
  /** False where only the lock file is left. */
  readonly isThere: boolean
  /** Finished, and its interpreter still starts from a Python that is there. */
  readonly isWhole: boolean
  /** Some process is making it. */
  readonly isLocked: boolean
}

/** The Python environments of a cache folder, without changing anything. `python` is any interpreter: Node has no file locks. */
export async function readEnvironments({ cacheFolder, python }: { readonly cacheFolder: string; readonly python: string }): Promise<readonly EnvironmentFact[]> {
  const parent = join(cacheFolder, 'python')
  const names = await readdir(parent).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  })
  const digests = new Set(names.flatMap((name) => /^([0-9a-f]{64})(?:\.lock)?$/.exec(name)?.[1] ?? []))
  const facts = await Promise.all([...digests].map((digest) => factOf(join(parent, digest), digest, python)))
  return facts.filter((fact) => fact !== undefined)
}

async function factOf(folder: string, digest: string, python: string): Promise<EnvironmentFact | undefined> {
  const stat = await lstat(folder).catch(() => undefined)
  if (stat !== undefined && !stat.isDirectory()) return undefined
  const lockFile = `${folder}.lock`
  return { digest, folder, lockFile, isThere: stat !== undefined, isWhole: (await readMarker(folder)) !== undefined, isLocked: await isLocked(lockFile, python) }
}

async function isLocked(lockFile: string, python: string): Promise<boolean> {
  // Trying would make the file.
  if (!(await access(lockFile).then(() => true, () => false))) return false
  const lock = await tryFileLock(lockFile, python)
  await lock?.release()
  return lock === undefined
}

/** The lock, or nothing when somebody holds it. */
async function tryFileLock(path: string, python: string): Promise<FileLock | undefined> {
  const held = new AbortController()
  try {
    return await acquireFileLock({ path, python, onWait: () => held.abort(), signal: held.signal })
  } catch (error) {
    if (held.signal.aborted) return undefined
    throw error
  }
}

/** Removes an environment with its lock file, unless some process is making it; false then. Its marker goes first, so that no half of it is taken for whole. */
export async function removeEnvironment({ folder, lockFile }: Pick<EnvironmentFact, 'folder' | 'lockFile'>, python: string): Promise<boolean> {
  const lock = await tryFileLock(lockFile, python)
  if (lock === undefined) return false
  try {
    await rm(markerPath(folder), { force: true })
    await rm(folder, { recursive: true, force: true })
    await rm(lockFile, { force: true })
    return true
  } finally {
    await lock.release()
  }
}

/** The digest that names the environment of these requirements, and whether it is made. */
export async function findPythonEnvironment(asked: { readonly cacheFolder: string; readonly python: Python; readonly requirementsFile: string }): Promise<{ readonly digest: string; readonly folder: string; readonly isMade: boolean }> {
  const digest = await environmentDigest(asked)
  const folder = join(asked.cacheFolder, 'python', digest)
  return { digest, folder, isMade: (await readMarker(folder)) !== undefined }
}
