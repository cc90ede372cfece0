import { join } from 'node:path'
import { parseJsonDocument } from '@osworld-e2b/contracts'
import { writeJsonAtomic } from '@osworld-e2b/inventory'
import { LocalE2bError } from '../error.ts'
import { readProcessIdentity } from '../process-identity.ts'
import { lockDataFolder } from '../server/lock.ts'
import { dataFolderAt } from '../store/data-folder.ts'
import { readTextIfPresent } from '../store/read-file.ts'
import { templatesDocumentSchema } from '../store/template-document.ts'
import type { FolderCare } from './folder-care.ts'
import type { DataFolderRemoval } from './plan-data-folder.ts'

/** Keeps servers out of a data folder until the returned function is called; throws `data_folder_locked` when one serves it. */
export async function holdDataFolder(dataFolder: string, pid: number): Promise<() => Promise<void>> {
  const identity = await readProcessIdentity(pid)
  if (identity === undefined) throw new LocalE2bError('data_folder_invalid', `There is no process ${pid} to hold ${dataFolder}.`)
  return lockDataFolder(dataFolderAt(dataFolder), identity)
}

/** Does one removal of a plan; the caller holds the data folder. A template leaves the list before its folders go. */
export async function removeFromDataFolder(dataFolder: string, removal: DataFolderRemoval, care: FolderCare): Promise<void> {
  if (removal.kind === 'template') await unlistTemplate(dataFolder, removal.name)
  // What speaks of a folder goes before the folder.
  for (const path of [...removal.paths].sort((left, right) => Number(right.endsWith('.json')) - Number(left.endsWith('.json')))) {
    await care.remove(join(dataFolder, path))
  }
}

async function unlistTemplate(dataFolder: string, name: string): Promise<void> {
  const { templatesFile } = dataFolderAt(dataFolder)
  const text = await readTextIfPresent(templatesFile)
  if (text === undefined) return
  const document = parseJsonDocument(templatesDocumentSchema, templatesFile, text)
  await writeJsonAtomic(templatesFile, { ...document, templates: document.templates.filter((template) => template.name !== name) })
}
