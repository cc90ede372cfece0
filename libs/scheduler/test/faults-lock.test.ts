import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RunLock } from '@osworld-e2b/contracts'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { FaultySetup } from './faults-campaign.ts'
import { type CompiledProgram, compileProgram, ledgerOf, PrintingProcess } from './faults-process.ts'
import { readLedger } from './faults-run.ts'

let coordinator: CompiledProgram
let runFolder: string
let temporaryFolder: string
let running: PrintingProcess[]
beforeAll(async () => {
  coordinator = await compileProgram('faults-coordinator')
})
afterAll(() => coordinator.remove())
beforeEach(async () => {
  runFolder = await mkdtemp(join(tmpdir(), 'faults-run-'))
  temporaryFolder = await mkdtemp(join(tmpdir(), 'faults-'))
  running = []
})
afterEach(async () => {
  for (const one of running) await one.kill()
  await rm(runFolder, { recursive: true, force: true })
  await rm(temporaryFolder, { recursive: true, force: true })
})

function start(): PrintingProcess {
  const setup: FaultySetup = { runFolder, programs: fileURLToPath(new URL('.', import.meta.url)), temporaryFolder, tasks: [{ id: 'a', attempts: ['until-told'] }] }
  const started = new PrintingProcess(process.execPath, [coordinator.path, JSON.stringify({ setup })])
  running.push(started)
  return started
}

const lockFile = () => join(runFolder, 'run.lock')
const refusal = ({ pid, host, acquired_at }: RunLock) => `The run in ${lockFile()} belongs to process ${pid} on ${host} since ${acquired_at}. Wait for it, stop it, or choose another --run-id.`

async function expectComplete(one: PrintingProcess): Promise<void> {
  await writeFile(join(runFolder, 'go'), '')
  expect(await one.until(({ type }) => type === 'result')).toMatchObject({ reason: 'complete', aggregate: { valid_tasks: 1 } })
  expect(await one.ended).toBe(0)
  expect((await readdir(runFolder)).filter((name) => name.startsWith('run.lock'))).toEqual([])
}

test('of two coordinators on one run folder the second is refused by the name of the first, and changes nothing', async () => {
  const first = start()
  const { pid } = await first.until(({ type }) => type === 'begun')
  await first.until(({ type, phase }) => type === 'attempt_phase' && phase === 'agent')
  const before = await readLedger(runFolder)
  const lock = JSON.parse(await readFile(lockFile(), 'utf8')) as RunLock
  expect(lock).toMatchObject({ pid, host: hostname() })
  const second = start()
  expect(await second.until(({ type }) => type === 'failed')).toEqual({ type: 'failed', code: 'run_locked', message: refusal(lock) })
  expect(ledgerOf(await second.until(({ type }) => type === 'ledger'))).toEqual(before)
  expect(JSON.parse(await readFile(lockFile(), 'utf8'))).toEqual(lock)
  await second.ended
  await expectComplete(first)
})

const lockOf = (owner: Partial<RunLock>): RunLock => ({ schema_version: 1, host: hostname(), pid: process.pid, pid_start: '1', acquired_at: '2026-01-01T00:00:00.000Z', ...owner })

test('the lock of a process that has ended is taken over', async () => {
  const gone = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  await once(gone, 'close')
  await writeFile(lockFile(), JSON.stringify(lockOf({ pid: gone.pid ?? 0, pid_start: '17' })))
  await expectComplete(start())
})

test('the lock of a process whose number another one has by now is taken over', async () => {
  await writeFile(lockFile(), JSON.stringify(lockOf({ pid: process.pid, pid_start: '1' })))
  await expectComplete(start())
})

test('the lock of another host is never taken over, since its owner cannot be looked at from here', async () => {
  const lock = lockOf({ host: `not-${hostname()}`, pid: 2 ** 22 - 1 })
  await writeFile(lockFile(), JSON.stringify(lock))
  await writeFile(join(runFolder, 'attempts.jsonl'), '')
  const refused = start()
  expect(await refused.until(({ type }) => type === 'failed')).toEqual({ type: 'failed', code: 'run_locked', message: refusal(lock) })
  expect(JSON.parse(await readFile(lockFile(), 'utf8'))).toEqual(lock)
})
