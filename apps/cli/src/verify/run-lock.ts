import { join } from 'node:path'
import { DocumentError, parseJsonDocument, type RunLock, runLockSchema } from '@osworld-e2b/contracts'
import { refuseHeldLock, SchedulerError } from '@osworld-e2b/scheduler'
import { readText } from './read-text.ts'

/** The living owner of a run, or one of another host, which cannot be looked at from here; undefined when nobody holds it. */
export async function ownerOf(runFolder: string): Promise<RunLock | undefined> {
  const path = join(runFolder, 'run.lock')
  const text = await readText(path)
  if (text === undefined) return undefined
  try {
    await refuseHeldLock(path)
    return undefined
  } catch (error) {
    // One that cannot be read is a fault of a document, and tells of no owner.
    if (error instanceof DocumentError) return undefined
    if (!(error instanceof SchedulerError) || error.code !== 'run_locked') throw error
    return parseJsonDocument(runLockSchema, path, text)
  }
}
