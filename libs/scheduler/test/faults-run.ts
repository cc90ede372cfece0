import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type LedgerEvent, ledgerEventSchema } from '@osworld-e2b/contracts'
import { type AttemptProcesses, type AttemptReport, type CampaignEvent, type CampaignResult, createRoom, openLedger, runCampaign, systemClock } from '../src/index.ts'
import { type FaultySetup, faultyCampaign, writeTask } from './faults-campaign.ts'

export const programs = fileURLToPath(new URL('.', import.meta.url))

export interface FaultyRun {
  readonly result: CampaignResult
  readonly ledger: readonly LedgerEvent[]
  /** Of the attempts at a task, in their order. */
  readonly reports: (id: string) => readonly AttemptReport[]
}

export interface RunParts {
  readonly parts?: Partial<AttemptProcesses>
  readonly onEvent?: (event: CampaignEvent) => void
}

/** Runs a campaign in this process to its end. */
export async function runFaulty(given: Omit<FaultySetup, 'programs' | 'temporaryFolder'>, { parts = {}, onEvent = () => undefined }: RunParts = {}): Promise<FaultyRun> {
  const { runFolder } = given
  const temporaryFolder = await mkdtemp(join(tmpdir(), 'faults-'))
  const signal = new AbortController().signal
  const room = createRoom({ folder: runFolder, clock: systemClock, signal })
  await writeTask(runFolder)
  const ledger = await openLedger(join(runFolder, 'attempts.jsonl'), () => new Date(), (work) => room.keep(work))
  const reports: (readonly [string, AttemptReport])[] = []
  try {
    const { input, services } = faultyCampaign({ programs, temporaryFolder, ...given }, {
      ledger,
      room,
      parts,
      onEvent: (event) => {
        if (event.type === 'attempt_ended') reports.push([event.identity.id, event.report])
        onEvent(event)
      },
    })
    const result = await runCampaign(input, services, signal)
    return { result, ledger: await readLedger(runFolder), reports: (id) => reports.flatMap(([task, report]) => (task === id ? [report] : [])) }
  } finally {
    await ledger.close()
    await rm(temporaryFolder, { recursive: true, force: true })
  }
}

/** The whole ledger; throws when a line of it is broken. */
export async function readLedger(runFolder: string): Promise<readonly LedgerEvent[]> {
  const text = await readFile(join(runFolder, 'attempts.jsonl'), 'utf8')
  if (!text.endsWith('\n')) throw new Error(`The ledger ends in half a line: ${text.slice(-80)}`)
  return text.trimEnd().split('\n').map((line) => ledgerEventSchema.parse(JSON.parse(line)))
}
