import { hostname } from 'node:os'
import { join } from 'node:path'
import { DocumentError, ledgerEventSchema, parseJsonDocument } from '@osworld-e2b/contracts'
import { readRunTemporaryFolders, type RunTemporaryFolder } from '@osworld-e2b/scheduler'
import { ledgerLines } from '../verify/ledger-lines.ts'
import { kindAt } from '../verify/read-text.ts'

/** The temporary folders of a run's coordinators on this machine that are gone. Their names tell the process, and the ledger whose it was. */
export async function temporaryFoldersOf(runFolder: string, { parent, uid }: { readonly parent: string; readonly uid: number }): Promise<readonly RunTemporaryFolder[]> {
  const [pids, folders] = await Promise.all([coordinatorsOf(join(runFolder, 'attempts.jsonl')), readRunTemporaryFolders(parent, uid)])
  return folders.filter(({ pid, isOwnerAlive }) => !isOwnerAlive && pids.has(pid))
}

async function coordinatorsOf(ledger: string): Promise<ReadonlySet<number>> {
  const pids = new Set<number>()
  if ((await kindAt(ledger)) !== 'file') return pids
  for await (const { text } of ledgerLines(ledger)) {
    const start = text.includes('"RUN_STARTED"') ? startOf(text) : undefined
    if (start?.host === hostname()) pids.add(start.pid)
  }
  return pids
}

function startOf(text: string): { readonly pid: number; readonly host: string } | undefined {
  try {
    const event = parseJsonDocument(ledgerEventSchema, 'a line', text)
    return event.event === 'RUN_STARTED' ? event : undefined
  } catch (error) {
    // A broken line is for `osworld verify` to tell.
    if (error instanceof DocumentError) return undefined
    throw error
  }
}
