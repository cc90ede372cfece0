import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { replayText, type RunFold, type RunState } from '@osworld-e2b/aggregation'
import { DocumentError, type LedgerEvent } from '@osworld-e2b/contracts'
import { isSystemError, SchedulerError, unwritable } from './scheduler-error.ts'

export interface Ledger {
  readonly state: RunState
  /** Number of the latest start of the run. */
  readonly session: () => number
  /** Applies the event, then writes and fsyncs its line; lines keep the order of the calls. */
  append(event: LedgerEvent): Promise<void>
  close(): Promise<void>
}

/**
 * Opens `attempts.jsonl`, makes it when it is missing, and replays it. A torn last line (a crash in mid-write) is cut
 * off and the cut is recorded as an event; a broken line before the last one is refused, since nothing writes those.
 */
export async function openLedger(path: string, now: () => Date): Promise<Ledger> {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o644)
  try {
    const { fold, tornBytes } = await replayFile(file, path)
    const ledger = appender(file, path, fold)
    if (tornBytes > 0) await ledger.append({ event: 'TAIL_CUT', timestamp: now().toISOString(), bytes: tornBytes })
    return ledger
  } catch (error) {
    await file.close()
    throw error
  }
}

function appender(file: FileHandle, path: string, fold: RunFold): Ledger {
  let tail: Promise<void> = Promise.resolve()
  const write = async (line: string): Promise<void> => {
    try {
      await file.appendFile(line)
      await file.datasync()
    } catch (error) {
      throw isSystemError(error) ? unwritable(path, error) : error
    }
  }
  return {
    state: fold.state,
    session: () => fold.session,
    append: (event) => {
      fold.apply(event)
      tail = tail.then(() => write(`${JSON.stringify(sortKeys(event))}\n`))
      return tail
    },
    close: async () => {
      await tail.catch(() => undefined)
      await file.close()
    },
  }
}

async function replayFile(file: FileHandle, path: string): Promise<ReturnType<typeof replayText>> {
  const bytes = await file.readFile()
  const replayed = replayLedger(bytes, path)
  if (replayed.tornBytes > 0) {
    await file.truncate(bytes.length - replayed.tornBytes)
    await file.datasync()
  }
  return replayed
}

/** The ledger's state without changing the file; a torn last line is passed over. */
export function replayLedger(bytes: Uint8Array, path: string): ReturnType<typeof replayText> {
  try {
    return replayText(bytes, path)
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error
    throw new SchedulerError('ledger_broken', `${error.message} A line before the last one is never half-written, so the file was edited or damaged: keep the folder and start a new run.`, { cause: error })
  }
}

function sortKeys(event: LedgerEvent): Record<string, unknown> {
  return Object.fromEntries(Object.entries(event).sort(([a], [b]) => (a < b ? -1 : 1)))
}
