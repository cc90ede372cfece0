import { DocumentError, parseJsonDocument, type RunStatus, runStatusSchema } from '@osworld-e2b/contracts'
import { readRun, type RunModel } from '@osworld-e2b/report'
import { recordedStatus } from './recorded-status.ts'
import { readIfThere, readRunOwner, type RunOwner } from './run-owner.ts'
import { statusPath } from './status-file.ts'

/** A run as somebody else sees it. */
export interface RunLook {
  readonly runFolder: string
  readonly owner: RunOwner
  readonly status: RunStatus
  /** `status.json` of the present owner; the ledger, when there is none. */
  readonly source: 'owner' | 'ledger'
  /** Read only when the owner does not tell. */
  readonly model?: RunModel
}

/** Reads the lock and what its owner says, or else the record; changes nothing. Throws `ReportError` for what is not a run. */
export async function lookAtRun(runFolder: string, now: Date): Promise<RunLook> {
  const owner = await readRunOwner(runFolder)
  const told = owner.standing === 'lives' || owner.standing === 'elsewhere' ? await readStatus(runFolder) : undefined
  // An earlier start's last word is not this owner's, and after its own last word the record tells more.
  const isCurrent = told !== undefined && told.state !== 'ended' && owner.lock !== undefined && told.started_at >= owner.lock.acquired_at
  if (isCurrent) return { runFolder, owner, status: told, source: 'owner' }
  const model = await readRun({ runFolder, now })
  return { runFolder, owner, status: recordedStatus(model), source: 'ledger', model }
}

/** Undefined when it is not there or not this version's: it proves nothing, and the ledger tells more. */
async function readStatus(runFolder: string): Promise<RunStatus | undefined> {
  const path = statusPath(runFolder)
  const text = await readIfThere(path)
  try {
    return text === undefined ? undefined : parseJsonDocument(runStatusSchema, path, text)
  } catch (error) {
    if (error instanceof DocumentError) return undefined
    throw error
  }
}
