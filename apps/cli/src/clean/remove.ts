import { lstat, rm } from 'node:fs/promises'
import { type FolderCare, readServing, removeFromDataFolder } from '@osworld-e2b/local-e2b'
import { connectSandboxes } from '@osworld-e2b/sandbox'
import { type Python, removeEnvironment } from '@osworld-e2b/upstream'
import { UsageError } from '../usage-error.ts'
import type { Removal } from './plan-cleaning.ts'

export interface RemovalContext {
  /** The caller holds it while it removes from it. */
  readonly dataFolder: string
  readonly care: FolderCare
  readonly python: Python | undefined
}

/** Does one removal of a plan; throws what keeps it from being done. */
export async function remove({ way, name }: Removal, { dataFolder, care, python }: RemovalContext): Promise<void> {
  switch (way.by) {
    case 'server':
      return killSandbox(way.sandboxId, dataFolder)
    case 'data folder':
      return removeFromDataFolder(dataFolder, way.removal, care)
    case 'environment':
      if (python !== undefined && (await removeEnvironment(way.environment, python.path))) return
      throw new UsageError(`${name} is being made by now.`)
    case 'folder':
      return removeFolder(way.path)
  }
}

async function killSandbox(id: string, dataFolder: string): Promise<void> {
  const serving = await readServing(dataFolder)
  // Its sandboxes have ended with it.
  if (serving.kind !== 'answers') return
  await connectSandboxes({ route: 'local', api_key: serving.apiKey, api_url: serving.url, sandbox_url: serving.url }).kill(id)
}

/** Links in it go, and not what they lead to. */
export async function removeFolder(path: string): Promise<void> {
  if (!(await lstat(path)).isDirectory()) throw new UsageError(`${path} is no folder any more.`)
  await rm(path, { recursive: true, force: true })
}
