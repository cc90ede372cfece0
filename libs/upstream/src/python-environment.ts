import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { canonicalJson, sha256Hex, writeJsonAtomic } from '@osworld-e2b/inventory'
import type { Environment } from './environment.ts'
import { acquireFileLock, type FileLock } from './environment-lock.ts'
import { type EnvironmentMarker, interpreterPath, markerPath, readMarker } from './environment-marker.ts'
import type { Python } from './find-python.ts'
import { createEnvironment, installRequirements, sitePackagesOf } from './make-environment.ts'
import { readRequirementsFile } from './requirements.ts'
import { UpstreamError } from './upstream-error.ts'

export interface EnvironmentProgress {
  readonly step: 'wait' | 'create' | 'install'
  readonly text: string
}

export interface EnsurePythonEnvironmentOptions {
  /** Environments are kept in `python/<digest>` below it. */
  readonly cacheFolder: string
  readonly python: Python
  /** pip requirements with a hash for every file. */
  readonly requirementsFile: string
  /** Where pip's index settings, proxies and certificates are read from; the rest of it reaches no child. */
  readonly environment: Environment
  readonly onProgress?: (progress: EnvironmentProgress) => void
  readonly signal?: AbortSignal
}

export interface PythonEnvironment {
  /** Absolute path of the environment's interpreter. */
  readonly python: string
  readonly folder: string
  /** Over the requirements' bytes, the Python version and the platform. */
  readonly digest: string
  readonly sitePackages: string
  /** Folder of the Python that the environment links to. */
  readonly basePrefix: string
}

/**
 * The environment of these requirements, made at the first call and found at later ones. One maker at a time; a half-made
 * environment is removed and made again. Throws an `UpstreamError` when it cannot be made.
 */
export async function ensurePythonEnvironment(options: EnsurePythonEnvironmentOptions): Promise<PythonEnvironment> {
  const digest = await environmentDigest(options)
  const folder = join(options.cacheFolder, 'python', digest)
  const found = await readMarker(folder)
  if (found !== undefined) return describe(folder, found)
  refuseWithoutVenv(options.python)
  try {
    return await makeLocked({ ...options, folder, digest })
  } catch (error) {
    if (options.signal?.aborted !== true) throw error
    throw new UpstreamError('interrupted', 'Making the Python environment was interrupted; the next start makes it again.', error)
  }
}

interface Making extends EnsurePythonEnvironmentOptions {
  readonly folder: string
  readonly digest: string
}

async function makeLocked(making: Making): Promise<PythonEnvironment> {
  const lock = await acquireFileLock({
    path: `${making.folder}.lock`,
    python: making.python.path,
    onWait: () => making.onProgress?.({ step: 'wait', text: 'another process is making the same Python environment' }),
    signal: making.signal,
  })
  try {
    const marker = (await readMarker(making.folder)) ?? (await make(making, lock))
    return describe(making.folder, marker)
  } finally {
    await lock.release()
  }
}

async function make(making: Making, lock: FileLock): Promise<EnvironmentMarker> {
  await rm(making.folder, { recursive: true, force: true })
  const work = { ...making, lock }
  making.onProgress?.({ step: 'create', text: `Python ${making.python.version}` })
  await createEnvironment(work)
  await installRequirements(work, (text) => making.onProgress?.({ step: 'install', text }))
  const marker: EnvironmentMarker = {
    schema_version: 1,
    digest: making.digest,
    python_version: making.python.version,
    base_prefix: making.python.basePrefix,
    site_packages: await sitePackagesOf(work),
  }
  await writeJsonAtomic(markerPath(making.folder), marker)
  return marker
}

/** Names the environment of these requirements on this Python. */
export async function environmentDigest({ requirementsFile, python }: Pick<EnsurePythonEnvironmentOptions, 'requirementsFile' | 'python'>): Promise<string> {
  const requirements = await readRequirementsFile(requirementsFile)
  const identity = { schema_version: 1, requirements_sha256: sha256Hex(requirements), python_version: python.version, platform: python.platform }
  return sha256Hex(canonicalJson(identity))
}

function refuseWithoutVenv(python: Python): void {
  if (python.canMakeEnvironments) return
  const debianPackage = `python${python.version.split('.').slice(0, 2).join('.')}-venv`
  throw new UpstreamError(
    'python_cannot_make_environments',
    `${python.path} (Python ${python.version}) lacks venv or ensurepip; on Debian and Ubuntu install ${debianPackage} (apt-get install ${debianPackage}).`,
  )
}

function describe(folder: string, marker: EnvironmentMarker): PythonEnvironment {
  return { python: interpreterPath(folder), folder, digest: marker.digest, sitePackages: marker.site_packages, basePrefix: marker.base_prefix }
}
