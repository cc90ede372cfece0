import { join } from 'node:path'
import { AggregationError, createRunFold, type RunFold } from '@osworld-e2b/aggregation'
import { DocumentError, type LedgerEvent, ledgerEventSchema, parseJsonDocument, type VerifyFault } from '@osworld-e2b/contracts'
import { ledgerLines } from './ledger-lines.ts'
import { kindAt } from './read-text.ts'
import { SessionOrder } from './session-order.ts'

export interface LedgerFindings {
  /** What the lines say that can be read and follow from those before them. */
  readonly fold: RunFold
  readonly events: number
  readonly tornBytes: number
  /** Whether the last event is the end of a start of the run. */
  readonly isEnded: boolean
  readonly faults: readonly VerifyFault[]
}

export const ledgerFile = 'attempts.jsonl'
const next = 'The ledger was edited, damaged, or written by two owners: get an unchanged copy of the folder.'

/** Reads and replays the ledger line by line; a line that is at fault is passed over. */
export async function readLedger(folder: string): Promise<LedgerFindings> {
  const replay = new LedgerReplay()
  const file = join(folder, ledgerFile)
  if ((await kindAt(file)) !== 'file') return replay.findings(0)
  const lines = ledgerLines(file)
  let line = await lines.next()
  for (; line.done !== true; line = await lines.next()) replay.take(line.value)
  return replay.findings(line.value.tornBytes)
}

class LedgerReplay {
  readonly #fold = createRunFold()
  readonly #order = new SessionOrder()
  readonly #faults: VerifyFault[] = []
  #lines = 0

  take({ number, text }: { readonly number: number; readonly text: string }): void {
    this.#lines = number
    try {
      const event = parseJsonDocument(ledgerEventSchema, `line ${number}`, text)
      const problems = [this.#order.take(event), placeProblem(event)].filter((problem) => problem !== undefined)
      for (const problem of problems) this.#fault(`line ${number}: ${problem}. ${next}`)
      this.#fold.apply(event)
    } catch (error) {
      if (error instanceof DocumentError) this.#fault(`${error.message} ${next}`)
      else if (error instanceof AggregationError) this.#fault(`line ${number}: ${error.message}`)
      else throw error
    }
  }

  findings(tornBytes: number): LedgerFindings {
    return { fold: this.#fold, events: this.#lines, tornBytes, isEnded: this.#order.isEnded, faults: this.#faults }
  }

  #fault(message: string): void {
    this.#faults.push({ kind: 'ledger', path: ledgerFile, message: `${ledgerFile} ${message}` })
  }
}

/** An attempt that names another's folder would have the other's evidence. */
function placeProblem(event: LedgerEvent): string | undefined {
  if (event.event !== 'PLANNED') return undefined
  const { domain, task_id: id, trial, attempt, attempt_dir: named } = event
  const own = `attempts/${domain}/${id}/${trial}.${attempt}`
  return named === own ? undefined : `PLANNED names the folder ${named}, and the attempt's own is ${own}`
}
