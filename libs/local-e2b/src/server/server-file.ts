import { localServerFileSchema, parseJsonDocument, type LocalServerFile } from '@osworld-e2b/contracts'
import { dataFolderAt } from '../store/data-folder.ts'
import { readTextIfPresent } from '../store/read-file.ts'

/** `server.json` of a data folder, or undefined when no server ever ran there; it may name a server that is gone. */
export async function readServerFile(dataFolder: string): Promise<LocalServerFile | undefined> {
  const { serverFile } = dataFolderAt(dataFolder)
  const text = await readTextIfPresent(serverFile)
  return text === undefined ? undefined : parseJsonDocument(localServerFileSchema, serverFile, text)
}
