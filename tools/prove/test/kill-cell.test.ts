import { EventEmitter } from 'node:events'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listenForInterrupts } from '../src/interrupts.ts'
import { type CellContext, killCell } from '../src/kill-cell.ts'
import { type Cell, cells, nameOfCell } from '../src/kill-table.ts'
import { watchLeftOver } from '../src/left-over.ts'

let folder: string
let lines: string[]
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'osworld-kill-')))
  lines = []
  await mkdir(join(folder, 'data', 'sandboxes'), { recursive: true })
  await mkdir(join(folder, 'tmp'))
  await mkdir(join(folder, 'results'))
})
afterEach(async () => {
  for (const line of lines) {
    const pid = /process (\d+):/.exec(line)?.[1]
    if (pid !== undefined) process.kill(Number(pid), 'SIGKILL')
  }
  await rm(folder, { recursive: true })
})

const places = (patienceMs: number) => ({ dataFolder: join(folder, 'data'), temporaryFolder: join(folder, 'tmp'), patienceMs })

async function kill(name: string, args: readonly string[] = [], patienceMs = 5_000) {
  const context: CellContext = {
    command: [process.execPath, fileURLToPath(new URL('tiny-killable.mjs', import.meta.url))],
    results: join(folder, 'results'),
    interrupts: listenForInterrupts(new EventEmitter()),
    progress: (line) => lines.push(line),
    args: ['--hold', ...args],
    trials: 1,
    undisturbed: { rewards: { 'os/bread/1': 1 }, plannedAttempts: 1, invalidByReason: {}, scoreDeclared: 1, isComplete: true },
    leftOver: await watchLeftOver(places(patienceMs)),
    hasVerify: false,
  }
  return killCell(cells.find((cell) => nameOfCell(cell) === name) as Cell, context)
}

test('a coordinator that is killed is started again by its name, and its run is the same but for the attempt that it lost', async () => {
  expect(await kill('coordinator:agent')).toMatchObject({ exit_codes: [null, 0], open_attempts: 1, planned_attempts: 2, invalid_by_reason: { interrupted: 1 }, score_declared: 1, verify: 'absent', left_over: 0, misses: 0, failures: [] })
})

test('a relay that is killed costs one attempt, and the run goes on by itself', async () => {
  expect(await kill('relay:agent')).toMatchObject({ exit_codes: [0], planned_attempts: 2, invalid_by_reason: { relay_failed: 1 }, left_over: 0, failures: [] })
})

test('a process that nobody ended is counted and told', async () => {
  const { left_over: count, failures } = await kill('relay:agent', ['--flaw', 'leaks'], 0)
  expect(count).toBeGreaterThan(0)
  expect(failures).toEqual([`relay:agent: ${count} things were left over.`])
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}left over: process \d+: sleep 600$/))
})

test('another reward after the kill is told', async () => {
  const { failures } = await kill('coordinator:agent', ['--flaw', 'scores less when killed'])
  expect(failures).toEqual(['coordinator:agent: os/bread/1 scored 0.5 instead of 1.', 'coordinator:agent: score_declared is 0.5 instead of 1.'])
})

test('a folder of a sandbox and one of a coordinator that stay are told, those of before are not', async () => {
  await writeFile(join(folder, 'tmp', 'osworld-run-1-1'), '')
  const watch = await watchLeftOver(places(0))
  expect(await watch.leftOver('files')).toEqual([])
  await writeFile(join(folder, 'tmp', 'osworld-run-2-2'), '')
  await mkdir(join(folder, 'data', 'sandboxes', 'i1'))
  expect(await watch.leftOver('living')).toEqual(['sandbox folder i1'])
  expect(await watch.leftOver('files')).toEqual(['sandbox folder i1', 'temporary folder osworld-run-2-2'])
})
