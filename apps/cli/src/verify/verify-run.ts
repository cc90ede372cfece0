import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { trialId } from '@osworld-e2b/aggregation'
import type { RunLock, VerifyFault, VerifyReport } from '@osworld-e2b/contracts'
import { aggregateFaults } from './aggregate-faults.ts'
import { attemptFaults, type AttemptToVerify } from './attempt-faults.ts'
import type { VerifyContext } from './context.ts'
import type { RunDocuments } from './documents.ts'
import type { SecretFinder } from './find-secrets.ts'
import { identityFaults } from './identity-faults.ts'
import { type LedgerFindings, ledgerFile, readLedger } from './read-ledger.ts'
import { kindAt } from './read-text.ts'
import { filesBelow, strayFaults } from './stray-faults.ts'

export interface VerifyInput {
  /** Absolute, without links. */
  readonly folder: string
  readonly documents: RunDocuments
  /** Who runs it now; what is being written is not judged. */
  readonly owner: RunLock | undefined
  readonly findSecrets: SecretFinder
  readonly onFault: (fault: VerifyFault) => void
  /** Things to know that are no faults; sentences. */
  readonly onNote: (text: string) => void
  readonly onProgress: (progress: { readonly attempts: number; readonly of: number; readonly bytes: number }) => void
}

/** Checks everything of a run folder and changes nothing; every fault is told as it is found. */
export async function verifyRun(input: VerifyInput): Promise<VerifyReport['checked']> {
  const { folder, documents, owner, onFault } = input
  const checked = { ledger_events: 0, attempts: 0, artifacts: 0, bytes: 0 }
  const context: VerifyContext = { folder, findSecrets: input.findSecrets, checked }
  for (const fault of documents.faults) onFault(fault)
  const ledger = await readLedger(folder)
  checked.ledger_events = ledger.events
  for (const fault of [...ledger.faults, ...tornFaults(ledger, owner, input.onNote)]) onFault(fault)
  for (const fault of identityFaults({ ...documents, starts: ledger.fold.session })) onFault(fault)
  await checkAttempts(input, context, ledger)
  const attemptFolders = new Set(attemptsOf(ledger, documents).map(({ record }) => record.attemptDir))
  for await (const fault of strayFaults(context, { attemptFolders, isGoingOn: owner !== undefined })) onFault(fault)
  if (owner === undefined) {
    const isThere = (await kindAt(join(folder, 'aggregate.json'))) !== 'absent'
    for (const fault of aggregateFaults({ ...documents, fold: ledger.fold, found: documents.aggregate, isThere })) onFault(fault)
  }
  return checked
}

/** A crash in mid-write tears the last line, and the next start cuts it off; after the end of a run nothing writes. */
function tornFaults({ tornBytes, isEnded }: LedgerFindings, owner: RunLock | undefined, onNote: VerifyInput['onNote']): readonly VerifyFault[] {
  if (tornBytes === 0) return []
  const torn = `The last ${tornBytes} bytes of ${ledgerFile} are no whole line`
  if (isEnded && owner === undefined) return [{ kind: 'ledger', path: ledgerFile, message: `${torn}, and the run had ended before them: get an unchanged copy of the folder.` }]
  onNote(owner === undefined ? `${torn}: a coordinator was ended while it wrote; the next start of the run cuts them off.` : `${torn}, since they are being written.`)
  return []
}

function attemptsOf({ fold }: LedgerFindings, { contract }: RunDocuments): readonly AttemptToVerify[] {
  return [...fold.state.values()].flatMap(({ key, attempts }) => attempts.map((record) => ({ key, record, contract })))
}

async function checkAttempts({ documents, owner, onFault, onProgress }: VerifyInput, context: VerifyContext, ledger: LedgerFindings): Promise<void> {
  const attempts = attemptsOf(ledger, documents)
  for (const attempt of attempts) {
    const { state } = attempt.record
    const faults = state.phase === 'terminal' ? attemptFaults(context, { ...attempt, state }) : owner === undefined ? openFaults(context, attempt) : []
    for await (const fault of faults) onFault(fault)
    context.checked.attempts += 1
    onProgress({ attempts: context.checked.attempts, of: attempts.length, bytes: context.checked.bytes })
  }
}

/** An attempt whose coordinator was ended; the next start of the run closes it. */
async function* openFaults(context: VerifyContext, { key, record }: AttemptToVerify): AsyncGenerator<VerifyFault> {
  const { attempt, attemptDir, state } = record
  const message = `${trialId(key)} attempt ${attempt} was ${state.phase} and never ended, and no process holds the run: resume it with the same --run-id, which closes the attempt.`
  yield { kind: 'leftover', path: attemptDir, message }
  if ((await realpath(join(context.folder, attemptDir)).catch(() => undefined)) === join(context.folder, attemptDir)) yield* filesBelow(context, attemptDir)
}
