import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { createRunFold, type RunFold, type RunState } from '@osworld-e2b/aggregation'
import { type LedgerEvent, ledgerEventSchema } from '@osworld-e2b/contracts'
import { SchedulerError } from './scheduler-error.ts'

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
    const fold = createRunFold()
    const tornBytes = await replayFile(file, path, fold)
    const ledger = appender(file, fold)
    if (tornBytes > 0) await ledger.append({ event: 'TAIL_CUT', timestamp: now().toISOString(), bytes: tornBytes })
    return ledger
  } catch (error) {
    await file.close()
    throw error
  }
}

function appender(file: FileHandle, fold: RunFold): Ledger {
  let tail: Promise<void> = Promise.resolve()
  const write = async (line: string): Promise<void> => {
    await file.appendFile(line)
    await file.datasync()
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

async function replayFile(file: FileHandle, path: string, fold: RunFold): Promise<number> {
  const bytes = await file.readFile()
  const end = bytes.lastIndexOf(0x0a) + 1
  const lines = bytes.subarray(0, end).toString('utf8').split('\n').slice(0, -1)
  for (const [index, line] of lines.entries()) fold.apply(parseLine(line, `${path} line ${index + 1}`))
  const torn = bytes.length - end
  if (torn > 0) {
    await file.truncate(end)
    await file.datasync()
  }
  return torn
}

function parseLine(line: string, where: string): LedgerEvent {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    throw broken(where, 'it is not JSON', error)
  }
  const parsed = ledgerEventSchema.safeParse(value)
  if (parsed.success) return parsed.data
  throw broken(where, parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '), parsed.error)
}

function broken(where: string, why: string, cause: unknown): SchedulerError {
  return new SchedulerError(
    'ledger_broken',
    `${where} is not a ledger event (${why}); the file was edited or damaged. Keep the folder and start a new run.`,
    { cause },
  )
}

function sortKeys(event: LedgerEvent): Record<string, unknown> {
  return Object.fromEntries(Object.entries(event).sort(([a], [b]) => (a < b ? -1 : 1)))
}
