import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LedgerEvent } from '@osworld-e2b/contracts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { FaultySetup } from './faults-campaign.ts'
import { type CompiledProgram, compileProgram, ledgerOf, onSmallDisk, type PrintingProcess, smallDiskProblem } from './faults-process.ts'

const problem = smallDiskProblem()
const programs = fileURLToPath(new URL('.', import.meta.url))

let coordinator: CompiledProgram
let folder: string
let temporaryFolder: string
let running: PrintingProcess | undefined
beforeAll(async () => {
  coordinator = await compileProgram('faults-coordinator')
})
afterAll(() => coordinator.remove())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'faults-run-'))
  temporaryFolder = await mkdtemp(join(tmpdir(), 'faults-'))
})
afterEach(async () => {
  await running?.kill()
  await rm(folder, { recursive: true, force: true })
  await rm(temporaryFolder, { recursive: true, force: true })
})

/** While it runs its disk becomes full, and only then it writes. */
const disturbed = { tasks: [{ id: 'a', attempts: ['writes-when-full', 'writes-evidence'] }, { id: 'b', attempts: ['writes-evidence'] }], maxAttempts: 2 }

function command(told: Readonly<Record<string, unknown>>): readonly string[] {
  const setup: FaultySetup = { runFolder: folder, programs, temporaryFolder, tasks: [{ id: 'a', attempts: ['writes-evidence'] }, { id: 'b', attempts: ['writes-evidence'] }], numEnvs: 1, maxAttempts: 1 }
  return [process.execPath, coordinator.path, JSON.stringify({ setup: { ...setup, ...(told.setup as object | undefined) }, ...Object.fromEntries(Object.entries(told).filter(([name]) => name !== 'setup')) })]
}

/** Without what the coordinator wrote only to fill a page. */
const isReal = (event: LedgerEvent) => event.event !== 'RUN_PAUSED' || event.reason !== 'model_unhealthy'
const names = (ledger: readonly LedgerEvent[]) => ledger.filter(isReal).map(({ event }) => event)

const undisturbed = ['RUN_STARTED', 'PLANNED', 'STARTED', 'TERMINAL', 'PLANNED', 'STARTED', 'TERMINAL', 'RUN_ENDED']

describe.skipIf(problem !== undefined)(`on a small disk of its own${problem === undefined ? '' : ` (skipped, since none can be mounted: ${problem})`}`, () => {
  // A run that has ended says nothing more in its ledger.
  test.each([
    ['before an attempt is planned', 'planned', true],
    ['before the end of an attempt is written', 'terminal', true],
    ['before the end of the run is written', 'ended', false],
    ['before the last aggregate is written', 'aggregate', false],
  ])('one that is full %s pauses the run, which says so, goes on by itself and loses nothing', async (_title, fillAt, isRecorded) => {
    running = onSmallDisk(folder, [command({ fillAt })])
    await running.until(({ type }) => type === 'filled')
    await running.until(({ type, reason }) => type === 'run_paused' && reason === 'disk_full')
    running.say('free')
    await running.until(({ type, reason }) => type === 'run_continued' && reason === 'disk_full')
    expect(await running.until(({ type }) => type === 'result')).toMatchObject({ reason: 'complete', aggregate: { complete: true, valid_tasks: 2, planned_attempts: 2, invalid_by_reason: {} } })
    const ledger = names(ledgerOf(await running.until(({ type }) => type === 'ledger')))
    expect(ledger.filter((name) => !['RUN_PAUSED', 'RUN_CONTINUED'].includes(name))).toEqual(undisturbed)
    expect(ledger.filter((name) => ['RUN_PAUSED', 'RUN_CONTINUED'].includes(name))).toEqual(isRecorded ? ['RUN_PAUSED', 'RUN_CONTINUED'] : [])
    expect(await running.ended).toBe(0)
  })

  test('one that is full while an attempt writes its evidence is nobody\'s fault but the disk\'s: the attempt is tried again', async () => {
    running = onSmallDisk(folder, [command({ fillAt: 'attempt', setup: disturbed })])
    await running.until(({ type, reason }) => type === 'run_paused' && reason === 'disk_full')
    running.say('free')
    const result = await running.until(({ type }) => type === 'result')
    expect(result).toMatchObject({ reason: 'complete', aggregate: { complete: true, valid_tasks: 2, planned_attempts: 3, invalid_by_reason: { worker_lost: 1 } } })
    const ledger = ledgerOf(await running.until(({ type }) => type === 'ledger'))
    expect(ledger.find((event) => event.event === 'TERMINAL')?.outcome).toMatchObject({ reason: 'worker_lost', message: 'The disk was full while this attempt ran.', later: [{ reason: 'runner_exit' }] })
    expect(names(ledger).filter((name) => name === 'RUN_PAUSED').length).toBe(names(ledger).filter((name) => name === 'RUN_CONTINUED').length)
  })

  test.each(['planned', 'attempt', 'terminal', 'ended'])('stopped while it is full (%s), a run says that it cannot be written, and resumes once there is room', async (fillAt) => {
    running = onSmallDisk(folder, [command({ fillAt, ...(fillAt === 'attempt' ? { setup: disturbed } : {}) }), command({ freeFirst: true })])
    const { pid } = await running.until(({ type }) => type === 'begun')
    await running.until(({ type, reason }) => type === 'run_paused' && reason === 'disk_full')
    process.kill(Number(pid), 'SIGTERM')
    const failed = await running.until(({ type }) => type === 'failed')
    expect(failed).toMatchObject({ code: 'run_unwritable', message: expect.stringMatching(/cannot be written \(ENOSPC.*\)\. What is recorded is kept: mend that, such as by freeing disk space, and start the run again with the same --run-id\.$/) as string })
    const before = ledgerOf(await running.until(({ type }) => type === 'ledger'))
    expect(await running.until(({ type }) => type === 'result')).toMatchObject({ reason: 'complete', aggregate: { complete: true, valid_tasks: 2 } })
    expect(await running.ended).toBe(0)
    const last = running.printed.filter(({ type }) => type === 'ledger').at(-1)
    expect(last === undefined ? [] : ledgerOf(last).slice(0, before.length)).toEqual(before)
  })
})
