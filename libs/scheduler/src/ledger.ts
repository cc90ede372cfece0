import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { replayText, type RunFold, type RunState, type RunTotals } from '@osworld-e2b/aggregation'
import { DocumentError, type LedgerEvent } from '@osworld-e2b/contracts'
import { isSystemError, SchedulerError, unwritable } from './scheduler-error.ts'

export interface Ledger {
  readonly state: RunState
  /** Number of the latest start of the run. */
  readonly session: () => number
  readonly totals: () => RunTotals
  /**
   * Applies the event, then writes and fsyncs its line; lines keep the order of the calls. A line that
   * cannot be written whole is not there at all.
   */
  append(event: LedgerEvent): Promise<void>
  close(): Promise<void>
}

/** Does a piece of writing, again and again if that is wanted while the disk is full. */
export type KeepWriting = <Value>(work: () => Promise<Value>) => Promise<Value>

/**
 * Opens `attempts.jsonl`, makes it when it is missing, and replays it. A torn last line (a crash in mid-write) is cut
 * off and the cut is recorded as an event; a broken line before the last one is refused, since nothing writes those.
 */
export async function openLedger(path: string, now: () => Date, keep: KeepWriting = (work) => work()): Promise<Ledger> {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o644)
  try {
    const { fold, tornBytes, keptBytes } = await replayFile(file, path)
    const ledger = appender({ file, path, bytes: keptBytes }, fold, keep)
    if (tornBytes > 0) await ledger.append({ event: 'TAIL_CUT', timestamp: now().toISOString(), bytes: tornBytes })
    return ledger
  } catch (error) {
    await file.close()
    throw error
  }
}

interface LedgerFile {
  readonly file: FileHandle
  readonly path: string
  /** Its length without anything half-written. */
  bytes: number
}

function appender(target: LedgerFile, fold: RunFold, keep: KeepWriting): Ledger {
  let tail: Promise<void> = Promise.resolve()
  return {
    state: fold.state,
    session: () => fold.session,
    totals: () => fold.totals,
    append: (event) => {
      fold.apply(event)
      tail = tail
        .then(() => keep(() => writeLine(target, lineOf(event))))
        .catch((error: unknown) => {
          throw isSystemError(error) ? unwritable(target.path, error) : error
        })
      return tail
    },
    close: async () => {
      await tail.catch(() => undefined)
      await target.file.close()
    },
  }
}

async function writeLine(target: LedgerFile, line: Buffer): Promise<void> {
  try {
    await target.file.appendFile(line)
    await target.file.datasync()
    target.bytes += line.length
  } catch (error) {
    // What was written of the line goes, so that the next one does not follow half a line.
    await target.file.truncate(target.bytes).catch(() => undefined)
    throw error
  }
}

function lineOf(event: LedgerEvent): Buffer {
  return Buffer.from(`${JSON.stringify(sortKeys(event))}\n`)
}

async function replayFile(file: FileHandle, path: string): Promise<ReturnType<typeof replayText> & { readonly keptBytes: number }> {
  const bytes = await file.readFile()
  const replayed = replayLedger(bytes, path)
  if (replayed.tornBytes > 0) {
    await file.truncate(bytes.length - replayed.tornBytes)
    await file.datasync()
  }
  return { ...replayed, keptBytes: bytes.length - replayed.tornBytes }
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
