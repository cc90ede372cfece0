import { join } from 'node:path'
import { ensurePythonEnvironment, findPython, type Python, type PythonEnvironment, upstreamIdentity, type UpstreamIdentity } from '@osworld-e2b/upstream'
import type { Steps } from '../run/steps.ts'
import { UsageError } from '../usage-error.ts'
import { cacheFolder, workspace } from '../workspace.ts'

export interface Profile {
  readonly name: string
  readonly folder: string
  readonly python: Python
  readonly environment: PythonEnvironment
  readonly identity: UpstreamIdentity
}

export interface SetupContext {
  readonly environment: NodeJS.ProcessEnv
  readonly steps: Steps
  readonly signal?: AbortSignal
}

const packageProfile = 'package-1.0.2'

/** The profile's pinned OSWorld in a Python environment of its own, made at the first call and found at later ones. */
export async function prepareProfile(name: string, { environment, steps, signal }: SetupContext): Promise<Profile> {
  if (name !== packageProfile) throw new UsageError(`There is no profile ${name}; the profile here is ${packageProfile}.`)
  const folder = join(workspace.profiles, name)
  const requirementsFile = join(folder, 'requirements.txt')
  const python = await findPython({ environment })
  const identity = await upstreamIdentity(requirementsFile)
  const made = await steps.step(`Python environment of ${identity.name} ${identity.version}`, () =>
    ensurePythonEnvironment({ cacheFolder: cacheFolder(environment), python, requirementsFile, environment, ...(signal === undefined ? {} : { signal }) }),
  )
  return { name, folder, python, environment: made, identity }
}

/** `osworld setup`: makes the profile ready and says what it is. */
export async function setup(name: string, context: SetupContext): Promise<void> {
  const profile = await prepareProfile(name, context)
  context.steps.line(`${name}: ${profile.identity.name} ${profile.identity.version} on Python ${profile.python.version}, in ${profile.environment.folder}`)
}
