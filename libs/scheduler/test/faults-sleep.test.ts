import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { AttemptReport } from '../src/index.ts'
import type { FaultySetup } from './faults-campaign.ts'
import { type CompiledProgram, compileProgram, ledgerOf, type Printed, PrintingProcess } from './faults-process.ts'

let coordinator: CompiledProgram
let runFolder: string
let temporaryFolder: string
let running: PrintingProcess | undefined
beforeAll(async () => {
  coordinator = await compileProgram('faults-coordinator')
})
afterAll(() => coordinator.remove())
beforeEach(async () => {
  runFolder = await mkdtemp(join(tmpdir(), 'faults-run-'))
  temporaryFolder = await mkdtemp(join(tmpdir(), 'faults-'))
})
afterEach(async () => {
  await running?.kill()
  await rm(runFolder, { recursive: true, force: true })
  await rm(temporaryFolder, { recursive: true, force: true })
})

/** The process and all that it started, itself first, so that it starts nothing more once it is stopped. */
async function treeOf(pid: number): Promise<readonly number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  const below = await Promise.all(children.split(' ').filter(Boolean).map((child) => treeOf(Number(child))))
  return [pid, ...below.flat()]
}

async function stateOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat.slice(stat.lastIndexOf(')') + 2)[0] ?? ''
}

/** Longer than the relay of the fixtures may not run, and than the wait between attempts. */
const asleepMs = 3_000

/** Stops the whole run as a machine that sleeps does, for as long as that takes by the wall clock. */
async function sleepThrough(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  await expect.poll(() => stateOf(pid)).toBe('T')
  const tree = await treeOf(pid)
  for (const one of tree) process.kill(one, 'SIGSTOP')
  await expect.poll(async () => new Set(await Promise.all(tree.map(stateOf)))).toEqual(new Set(['T']))
  const sinceMs = Date.now()
  await expect.poll(() => Date.now() - sinceMs, { timeout: 10_000, interval: 100 }).toBeGreaterThan(asleepMs)
  for (const one of tree) process.kill(one, 'SIGCONT')
}

const isPhase = (id: string) => (line: Printed) => line.type === 'attempt_phase' && line.phase === 'agent' && (line.identity as { readonly id: string }).id === id
const isEnd = (id: string) => (line: Printed) => line.type === 'attempt_ended' && (line.identity as { readonly id: string }).id === id
const endsOf = (id: string) => (running?.printed ?? []).filter(isEnd(id)).map(({ report }) => (report as AttemptReport).outcome)

test('a run goes on when its machine slept: an attempt whose sandbox lived on has its score, a lost one and one that was waited for are tried again', async () => {
  const setup: FaultySetup = {
    runFolder,
    programs: fileURLToPath(new URL('.', import.meta.url)),
    temporaryFolder,
    tasks: [
      { id: 'lost', relays: ['loses-asleep', 'well'], attempts: ['hangs-in-agent', 'valid'] },
      { id: 'lives', attempts: ['until-told'] },
      { id: 'waits', relays: ['create-fails', 'well'] },
    ],
    numEnvs: 3,
    maxAttempts: 4,
    backOffMs: 1_000,
  }
  running = new PrintingProcess(process.execPath, [coordinator.path, JSON.stringify({ setup })])
  const { pid } = await running.until(({ type }) => type === 'begun')
  for (const awaited of [isPhase('lost'), isPhase('lives'), isEnd('waits')]) await running.until(awaited)
  await sleepThrough(Number(pid))
  await running.until(isEnd('lost'))
  await writeFile(join(runFolder, 'go'), '')
  const result = await running.until(({ type }) => type === 'result')
  expect(result).toMatchObject({ reason: 'complete', aggregate: { complete: true, valid_tasks: 3, invalid_by_reason: { guest_lost: 1, sandbox_create_failed: 1 } } })
  expect(endsOf('lost')).toMatchObject([{ kind: 'invalid', reason: 'guest_lost', phase: 'agent', message: 'The sandbox ended while the machine slept.' }, { kind: 'valid' }])
  expect(endsOf('lives')).toEqual([{ kind: 'valid', reward: 1 }])
  expect(ledgerOf(await running.until(({ type }) => type === 'ledger')).at(-1)).toMatchObject({ event: 'RUN_ENDED', reason: 'complete' })
  expect(await running.ended).toBe(0)
  const left = await Promise.all((await readdir('/proc')).map((name) => readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')))
  expect(left.filter((line) => line.includes(runFolder))).toEqual([])
})
