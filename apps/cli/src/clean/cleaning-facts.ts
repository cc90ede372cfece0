import { access, readdir } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { type DataFolderFacts, readDataFolder, readServing } from '@osworld-e2b/local-e2b'
import { connectSandboxes, type SandboxSummary } from '@osworld-e2b/sandbox'
import { readRunTemporaryFolders, readRunTraces, type RunTemporaryFolder, type RunTrace } from '@osworld-e2b/scheduler'
import { contentName, loadRecipe } from '@osworld-e2b/template'
import { type EnvironmentFact, findPython, findPythonEnvironment, type Python, readEnvironments, UpstreamError } from '@osworld-e2b/upstream'
import { workspace } from '../workspace.ts'
import type { Places } from './arguments.ts'
import { type CheckoutFact, readCheckouts } from './checkouts.ts'
import { readScratchFolders, type ScratchFolder } from './scratch-folders.ts'

/** All that the plan is made from; nothing here is judged. */
export interface CleaningFacts {
  readonly places: Places
  /** Sandboxes of runs on the local server that answers, if one does. */
  readonly sandboxes: readonly SandboxSummary[]
  readonly runs: readonly RunTrace[]
  readonly temporaryFolders: readonly RunTemporaryFolder[]
  readonly scratchFolders: readonly ScratchFolder[]
  readonly environments: readonly EnvironmentFact[]
  readonly checkouts: readonly CheckoutFact[]
  /** Digests of the environments that this checkout's profiles use, and of all pinned sources that were set up; undefined without a Python to tell. */
  readonly currentEnvironments: readonly string[] | undefined
  readonly dataFolder: DataFolderFacts | undefined
  /** Name of the template that the present recipe makes. */
  readonly currentTemplate: string
}

export interface FactsContext {
  readonly environment: NodeJS.ProcessEnv
  readonly temporaryFolder: string
  readonly pid: number
  readonly uid: number
  readonly nowMs: number
  /** The one that a run would use, if there is one. */
  readonly python: Python | undefined
}

/** What this process is and sees. */
export function factsContext(environment: NodeJS.ProcessEnv, python: Python | undefined): FactsContext {
  return { environment, temporaryFolder: environment['TMPDIR'] ?? tmpdir(), pid: process.pid, uid: ownAccount().uid, nowMs: Date.now(), python }
}

export function ownAccount(): { readonly uid: number; readonly gid: number; readonly name: string } {
  const { uid, gid, username: name } = userInfo()
  return { uid, gid, name }
}

/** Looks at everything that can be stale, without changing anything. */
export async function gatherCleaningFacts(places: Places, context: FactsContext): Promise<CleaningFacts> {
  // First the sandboxes and then the locks: a sandbox of a run that begins in between is not in the list.
  const sandboxes = await sandboxesOf(places.dataFolder)
  const [runs, temporaryFolders, scratchFolders, environments, checkouts, dataFolder, currentTemplate] = await Promise.all([
    Promise.all(places.results.map(readRunTraces)),
    readRunTemporaryFolders(context.temporaryFolder, context.uid),
    readScratchFolders(context.temporaryFolder, context),
    environmentsOf(places, context.python),
    readCheckouts(places.cacheFolder, workspace.profilesFile),
    readDataFolder(places.dataFolder, context.pid),
    currentTemplateName(),
  ])
  return { places, sandboxes, runs: runs.flat(), temporaryFolders, scratchFolders, ...environments, checkouts, dataFolder, currentTemplate }
}

async function currentTemplateName(): Promise<string> {
  const { recipe, files } = await loadRecipe(workspace.templateFolder, 'debian-12')
  return contentName(recipe, files)
}

async function sandboxesOf(dataFolder: string): Promise<readonly SandboxSummary[]> {
  const serving = await readServing(dataFolder)
  if (serving.kind !== 'answers') return []
  return connectSandboxes({ route: 'local', api_key: serving.apiKey, api_url: serving.url, sandbox_url: serving.url }).list({ workload: 'osworld-e2b' })
}

async function environmentsOf({ cacheFolder }: Places, python: Python | undefined): Promise<Pick<CleaningFacts, 'environments' | 'currentEnvironments'>> {
  if (python === undefined) return { environments: [], currentEnvironments: undefined }
  const environments = await readEnvironments({ cacheFolder, python: python.path })
  const ofPackages = (await requirementsFiles()).map((requirementsFile) => findPythonEnvironment({ cacheFolder, python, requirementsFile }))
  const ofPinnedSources = await Promise.all(environments.map(({ folder }) => isThere(join(folder, 'runtime-identity.json'))))
  return {
    environments,
    currentEnvironments: [...(await Promise.all(ofPackages)).map(({ digest }) => digest), ...environments.filter((_, index) => ofPinnedSources[index] === true).map(({ digest }) => digest)],
  }
}

/** Of the profiles that are installed from the package index, and of the program that installs the others. */
async function requirementsFiles(): Promise<readonly string[]> {
  const files = (await readdir(workspace.profiles)).map((profile) => join(workspace.profiles, profile, 'requirements.txt'))
  const found = await Promise.all(files.map(isThere))
  return files.filter((_, index) => found[index] === true)
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

export async function pythonIfAny(environment: NodeJS.ProcessEnv): Promise<Python | undefined> {
  try {
    return await findPython({ environment })
  } catch (error) {
    if (error instanceof UpstreamError && error.code === 'python_not_found') return undefined
    throw error
  }
}
