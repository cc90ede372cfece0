import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseJsonDocument } from '@osworld-e2b/contracts'
import { folderExists, layerCache } from '../builder/layer-cache.ts'
import { hasLivingOwner } from '../namespace/sandbox-folder.ts'
import { readProcessIdentity } from '../process-identity.ts'
import { readLockHolder } from '../server/lock.ts'
import { dataFolderAt, type DataFolder } from '../store/data-folder.ts'
import { hasSystemCode, readTextIfPresent } from '../store/read-file.ts'
import { templatesDocumentSchema, type BuildRecord } from '../store/template-document.ts'

export interface TemplateFact {
  readonly name: string
  readonly builds: readonly {
    readonly buildId: string
    /** Finished, and every folder that it stands on is there. */
    readonly isReady: boolean
    /** Relative to the data folder. */
    readonly layers: readonly string[]
  }[]
}

export interface PartFact {
  readonly kind: 'base' | 'layer' | 'runtime' | 'sandbox_folder' | 'half_made'
  /** Relative to the data folder; for a layer its folder first, then the files that speak of it. */
  readonly paths: readonly [string, ...string[]]
  readonly changedMs: number
}

/** What lies in a data folder and who holds it; nothing here is judged. Parts of living sandboxes are left out. */
export interface DataFolderFacts {
  readonly root: string
  /** Pid of the living process that serves the data folder. */
  readonly holder: number | undefined
  readonly templates: readonly TemplateFact[]
  readonly parts: readonly PartFact[]
}

/** Reads a data folder without changing it; undefined when there is none. `ownPid` counts not as a holder. */
export async function readDataFolder(path: string, ownPid: number): Promise<DataFolderFacts | undefined> {
  const folder = dataFolderAt(path)
  if (!(await folderExists(folder.root))) return undefined
  const holder = await readLockHolder(folder)
  const parts = [
    ...(await foldersIn(folder, 'bases', 'base')),
    ...(await layersIn(folder)),
    ...(await foldersIn(folder, 'runtime', 'runtime')),
    ...(await abandonedSandboxes(folder)),
    ...(await halfMadeFiles(folder)),
  ]
  return { root: folder.root, holder: holder === ownPid ? undefined : holder, templates: await templatesOf(folder), parts }
}

async function templatesOf(folder: DataFolder): Promise<readonly TemplateFact[]> {
  const text = await readTextIfPresent(folder.templatesFile)
  if (text === undefined) return []
  const { templates } = parseJsonDocument(templatesDocumentSchema, folder.templatesFile, text)
  return Promise.all(templates.map(async ({ name, builds }) => ({ name, builds: await Promise.all(Object.values(builds).map((build) => buildFact(folder, build))) })))
}

async function buildFact({ root }: DataFolder, { build_id: buildId, status, image }: BuildRecord): Promise<TemplateFact['builds'][number]> {
  const layers = image?.layers ?? []
  const there = await Promise.all(layers.map((layer) => folderExists(join(root, layer))))
  return { buildId, isReady: status === 'ready' && layers.length > 0 && !there.includes(false), layers }
}

/** Whole folders of a part; those that were left half-made are told apart by their names. */
async function foldersIn(folder: DataFolder, parent: string, kind: PartFact['kind']): Promise<readonly PartFact[]> {
  const names = (await entriesOf(join(folder.root, parent))).filter((entry) => entry.isDirectory()).map(({ name }) => name)
  return Promise.all(names.map((name) => part(folder, name.endsWith('.partial') ? 'half_made' : kind, [`${parent}/${name}`])))
}

async function layersIn(folder: DataFolder): Promise<readonly PartFact[]> {
  const names = (await entriesOf(folder.layers)).map(({ name }) => name)
  const keys = names.filter((name) => /^[0-9a-f]+\.json$/.test(name)).map((name) => name.slice(0, -'.json'.length))
  const cache = layerCache(folder)
  const entries = await Promise.all(keys.map(async (key) => ({ key, entry: await cache.read(key) })))
  const spoken = (id: string) => entries.filter(({ entry }) => entry?.has_folder === true && entry.id === id).map(({ key }) => `layers/${key}.json`)
  const orphans = entries.filter(({ entry }) => entry === undefined)
  return [
    ...(await foldersIn(folder, 'layers', 'layer')).map((fact) => ({ ...fact, paths: [...fact.paths, ...spoken(fact.paths[0].slice('layers/'.length))] as const })),
    ...(await Promise.all(orphans.map(({ key }) => part(folder, 'half_made', [`layers/${key}.json`])))),
  ]
}

async function abandonedSandboxes(folder: DataFolder): Promise<readonly PartFact[]> {
  const found: PartFact[] = []
  for (const entry of await entriesOf(folder.sandboxes)) {
    if (!entry.isDirectory() || (await hasLivingOwner(join(folder.sandboxes, entry.name)))) continue
    found.push(await part(folder, 'sandbox_folder', [`sandboxes/${entry.name}`]))
  }
  return found
}

/** Files that a killed writer left; of a lock that is being taken the pid in its name tells. */
async function halfMadeFiles(folder: DataFolder): Promise<readonly PartFact[]> {
  const found: string[] = []
  for (const parent of ['uploads', 'layers']) {
    const names = (await entriesOf(join(folder.root, parent))).map(({ name }) => name)
    found.push(...names.filter((name) => name.endsWith('.tmp')).map((name) => `${parent}/${name}`))
  }
  for (const { name } of await entriesOf(folder.root)) {
    const pid = /^server\.lock\.(?:stale\.)?(\d+)$/.exec(name)?.[1]
    const isLeft = pid === undefined ? /^\.\w+\.json\.[0-9a-f]+\.tmp$/.test(name) : (await readProcessIdentity(Number(pid))) === undefined
    if (isLeft) found.push(name)
  }
  return Promise.all(found.map((path) => part(folder, 'half_made', [path])))
}

async function part(folder: DataFolder, kind: PartFact['kind'], paths: readonly [string, ...string[]]): Promise<PartFact> {
  const changedMs = await lstat(join(folder.root, paths[0])).then(({ mtimeMs }) => mtimeMs, (error: unknown) => {
    if (hasSystemCode(error, 'ENOENT')) return 0
    throw error
  })
  return { kind, paths, changedMs }
}

/** Nothing of a folder that is reached through a link: what lies there belongs to somebody else too. */
async function entriesOf(folder: string) {
  return (await isRealFolder(folder)) ? readdir(folder, { withFileTypes: true }) : []
}

async function isRealFolder(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory()
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return false
    throw error
  }
}
