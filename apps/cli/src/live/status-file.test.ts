import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseJsonDocument, type RunStatus, runStatusSchema } from '@osworld-e2b/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { statusDocument } from './run-status.ts'
import { keepStatusFile, type StatusFile } from './status-file.ts'
import { initialStatus } from './status-state.ts'

let runFolder: string
let file: StatusFile | undefined
beforeEach(async () => {
  runFolder = await mkdtemp(join(tmpdir(), 'status-file-'))
})
afterEach(async () => {
  await file?.dispose()
  await rm(runFolder, { recursive: true, force: true })
})

const base = statusDocument(initialStatus({ runId: 'r', startedMs: 0, planned: 9, numEnvs: 1, maxSteps: 1, maxAttemptsPerTrial: 1, sandboxHourUsd: 0, before: { valid: 0, failed: 0, rewardSum: 0, costUsd: 0 } }), 0)
const everyMs = 20

async function written(): Promise<RunStatus> {
  const path = join(runFolder, 'status.json')
  return parseJsonDocument(runStatusSchema, path, await readFile(path, 'utf8'))
}

test('the file is there at once, follows what changes, and has the last word without leaving a draft', async () => {
  let valid = 0
  const problems: string[] = []
  file = keepStatusFile({ runFolder, everyMs, document: () => ({ ...base, valid }), onProblem: (sentence) => problems.push(sentence) })
  await vi.waitFor(async () => expect((await written()).valid).toBe(0))
  valid = 1
  file.changed()
  await vi.waitFor(async () => expect((await written()).valid).toBe(1))
  valid = 2
  await file.finish()
  expect((await written()).valid).toBe(2)
  expect(await readdir(runFolder)).toEqual(['status.json'])
  expect(problems).toEqual([])
})

test('without news it is still written now and then, so that its age means something', async () => {
  let asked = 0
  file = keepStatusFile({ runFolder, everyMs: 2, document: () => ({ ...base, valid: asked++ }), onProblem: () => undefined })
  await vi.waitFor(() => expect(asked).toBeGreaterThan(2))
})

test('a full disk is told once and ends nothing; once there is room the file goes on', async () => {
  const problems: string[] = []
  const document = vi.fn(() => base)
  const draft = join(runFolder, '.status.json.tmp')
  await symlink('/dev/full', draft)
  file = keepStatusFile({ runFolder, everyMs: 100_000, document, onProblem: (sentence) => problems.push(sentence) })
  await vi.waitFor(() => expect(problems).toHaveLength(1))
  expect(problems[0]).toMatch(/status\.json cannot be written \(ENOSPC: .*\), so `osworld status` shows an old state; the run goes on, its ledger is another file\.$/)
  expect(await readdir(runFolder)).toEqual([])
  await symlink('/dev/full', draft)
  await file.finish()
  expect(problems).toHaveLength(1)
  await file.finish()
  expect((await written()).planned).toBe(9)
})

test('a run folder that is gone ends nothing either', async () => {
  const problems: string[] = []
  const gone = join(runFolder, 'gone')
  file = keepStatusFile({ runFolder: gone, everyMs, document: () => base, onProblem: (sentence) => problems.push(sentence) })
  await file.finish()
  expect(problems).toHaveLength(1)
  await mkdir(gone)
  await file.finish()
  expect(await readdir(gone)).toEqual(['status.json'])
})
