import { join } from 'node:path'
import type { AttemptRecord, AttemptState, TrialKey } from '@osworld-e2b/aggregation'
import type { Contract, VerifyFault } from '@osworld-e2b/contracts'
import { sha256File } from '@osworld-e2b/inventory'
import { unchangedCopy } from './context.ts'
import { kindAt, readText } from './read-text.ts'

interface EndedAttempt {
  readonly key: TrialKey
  readonly record: AttemptRecord
  readonly contract: Contract | undefined
  readonly state: Extract<AttemptState, { phase: 'terminal' }>
}

/** Whether what an attempt left says the same as the contract and the ledger: its copy of the task, and the reward it wrote. */
export async function evidenceFaults(folder: string, attempt: EndedAttempt): Promise<readonly VerifyFault[]> {
  return [...(await taskFaults(folder, attempt)), ...rewardFaults(attempt, await readText(join(folder, resultPath(attempt))))]
}

async function taskFaults(folder: string, { key, record, contract, state }: EndedAttempt): Promise<readonly VerifyFault[]> {
  if (contract === undefined) return []
  const path = `${record.attemptDir}/task.json`
  const planned = contract.scoring.tasks.find(({ domain, id }) => domain === key.domain && id === key.id)
  if (planned === undefined) return [{ kind: 'identity', path: record.attemptDir, message: `${key.domain}/${key.id} is no task of contract.json, and the ledger has an attempt at it; ${unchangedCopy}` }]
  const isThere = (await kindAt(join(folder, path))) === 'file'
  // One that was ended early may have none.
  if (!isThere) return state.outcome.kind === 'valid' ? [{ kind: 'identity', path, message: `${path} is missing, so nothing shows which task the score is of; ${unchangedCopy}` }] : []
  const found = await sha256File(join(folder, path))
  if (found === planned.task_sha256) return []
  return [{ kind: 'identity', path, message: `${path} is not the task of contract.json: its SHA-256 is ${found}, and the contract says ${planned.task_sha256}; ${unchangedCopy}` }]
}

/** An attempt without a score may have written one, such as when its sandbox could not be removed afterwards. */
export function rewardFaults(attempt: EndedAttempt, text: string | undefined): readonly VerifyFault[] {
  const { outcome } = attempt.state
  if (text === undefined || outcome.kind !== 'valid') return []
  const path = resultPath(attempt)
  const written = text.trim()
  if (written !== '' && Number(written) === outcome.reward) return []
  const message = `${path} says ${JSON.stringify(written.slice(0, 40))}, and the ledger has the reward ${outcome.reward}: one of them was edited; ${unchangedCopy}`
  return [{ kind: 'ledger', path, message }]
}

function resultPath({ record }: Pick<EndedAttempt, 'record'>): string {
  return `${record.attemptDir}/result.txt`
}
