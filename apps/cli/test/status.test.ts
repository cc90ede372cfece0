import { readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { acquireRunLock } from '@osworld-e2b/scheduler'
import { prettyJson } from '@osworld-e2b/inventory'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { status, type StatusArguments } from '../src/commands/status.ts'
import { initialStatus } from '../src/live/status-state.ts'
import { foldStatus, statusDocument } from '../src/live/run-status.ts'
import type { TerminalStream } from '../src/live/terminal-view.ts'
import { attemptEvents, endedProcess, makeSmallRun, type SmallRun } from './small-run.ts'

let place: SmallRun
beforeEach(async () => {
  place = await makeSmallRun()
})
afterEach(() => place.remove())

async function printed(run: string, given: StatusArguments = {}, stdout: PassThrough & TerminalStream = new PassThrough()): Promise<string> {
  expect(await status(run, { results: place.results, ...given }, { environment: { TERM: 'xterm' }, stdout })).toBe(0)
  return textOf(stdout)
}

function textOf(stream: PassThrough): string {
  const bytes = stream.read() as Buffer | null
  return bytes === null ? '' : bytes.toString('utf8')
}

/** As long as the test runs it holds the run, like a coordinator. */
async function holdRun(): Promise<void> {
  const lock = await acquireRunLock(join(place.runFolder, 'run.lock'), { pid: process.pid, now: new Date() })
  onTestFinished(() => lock.release())
}

async function writeStatus(startedMs = Date.now()): Promise<void> {
  const start = initialStatus({ runId: 'r1', startedMs, planned: 4, numEnvs: 1, maxSteps: 5, maxAttemptsPerTrial: 1, sandboxHourUsd: null, before: { valid: 0, failed: 0, rewardSum: 0, costUsd: null } })
  const state = foldStatus(start, { type: 'attempt_started', identity: { domain: 'os', id: 'a', trial: 1, attempt: 1, attemptDir: 'x' } }, startedMs)
  await writeFile(join(place.runFolder, 'status.json'), prettyJson(statusDocument(state, startedMs)))
}

/** A lock whose owner has ended. */
async function abandon(): Promise<number> {
  const pid = await endedProcess()
  await acquireRunLock(join(place.runFolder, 'run.lock'), { pid, now: new Date() })
  return pid
}

const valid = (reward: number) => ({ kind: 'valid', reward }) as const
const lost = { kind: 'invalid', reason: 'guest_lost', message: 'Gone.' } as const

test('of a run that goes on: the same view as in its own terminal, and whose it is', async () => {
  await holdRun()
  await writeStatus()
  const text = await printed('r1')
  expect(text).toMatch(/^r1 · \d s · running\n/)
  expect(text).toMatch(/\n {2}os\/a +waiting +\d s\n/)
  expect(text).toMatch(new RegExp(`\\n\\nIt is run by process ${process.pid} on ${hostname()}; its last word is \\d s old\\.\\n$`))
  // Colours are for terminals.
  expect(text).not.toContain('\u001B')
})

test('for programs: the status document and its owner in one line', async () => {
  await holdRun()
  await writeStatus()
  const document = JSON.parse(await readFile(join(place.runFolder, 'status.json'), 'utf8')) as object
  expect(JSON.parse(await printed('r1', { json: true }))).toEqual({ ...document, owner: { standing: 'lives', host: hostname(), pid: process.pid } })
})

test("an earlier start's last word is not taken for the present owner's", async () => {
  await writeStatus(Date.parse('2026-01-01T00:00:00.000Z'))
  await place.record(...attemptEvents('os/a#1.1', valid(1)))
  await holdRun()
  const text = await printed('r1')
  expect(text).toContain(' · preparing\n')
  expect(text).toContain('1/4 valid · 3 to go\n')
  expect(text).toContain('it has not said yet how it goes; this is what the ledger knows.\n')
})

test('of a run whose coordinator was killed: what the ledger knows, who is gone, and how to go on', async () => {
  await writeStatus()
  await place.record(...attemptEvents('os/a#1.1', valid(0.5)), ...attemptEvents('os/b#1.1', lost), ...attemptEvents('chrome/c#1.1'))
  const pid = await abandon()
  const text = await printed('r1')
  expect(text).toMatch(/^r1 · begun .* ago · abandoned\n/)
  expect(text).toContain('\n1/4 valid · 1 failed · 2 to go\nscore 0.1250 of all planned · coverage 0.2500 · 0.5000 of the valid\n')
  expect(text).toContain(`\n\nIts coordinator, process ${pid} on ${hostname()}, is gone; this is what the ledger knows. Resume with: npx osworld run --run-id r1 --results ${place.results}\n`)
  expect(JSON.parse(await printed('r1', { json: true }))).toMatchObject({ state: 'running', running: [], valid: 1, failed: 1, owner: { standing: 'gone', host: hostname(), pid } })
})

test('a run that may cost money goes on only with its contract', async () => {
  const paid = await makeSmallRun({ route: 'e2b' })
  onTestFinished(() => paid.remove())
  expect(await printed(paid.runFolder)).toContain(`Its coordinator left without ending it; this is what the ledger knows. Resume with: npx osworld run --run-id r1 --results ${paid.results} --contract FILE\n`)
})

test('of a run on another host: its last word, and that nobody here can tell whether it lives', async () => {
  await writeStatus()
  await writeFile(join(place.runFolder, 'run.lock'), JSON.stringify({ schema_version: 1, host: 'elsewhere', pid: 7, pid_start: '1', acquired_at: '2026-01-01T00:00:00.000Z' }))
  expect(await printed('r1')).toMatch(/\n\nIt belongs to process 7 on elsewhere, and whether that lives cannot be seen from this host; its last word is \d s old\.\n$/)
})

test('of a run that ended: its score with its coverage, and what is left', async () => {
  await place.record(...attemptEvents('os/a#1.1', valid(1)), { event: 'RUN_ENDED', timestamp: new Date().toISOString(), reason: 'interrupted' })
  expect((await printed('r1')).split('\n')).toEqual([
    expect.stringMatching(/^r1: ended \(interrupted\) \d s ago$/),
    'score 0.2500 over 4 planned tasks, coverage 0.2500 (1 valid)',
    `3 of its tasks have no score. Resume with: npx osworld run --run-id r1 --results ${place.results}`,
    '',
  ])
  expect(JSON.parse(await printed('r1', { json: true }))).toMatchObject({ state: 'ended', valid: 1, owner: { standing: 'none', host: null, pid: null } })
})

test('watching follows the run until its owner is gone', async () => {
  const lock = await acquireRunLock(join(place.runFolder, 'run.lock'), { pid: process.pid, now: new Date() })
  await writeStatus()
  const stdout = new PassThrough()
  const watching = status('r1', { results: place.results, watch: true }, { environment: {}, stdout })
  await vi.waitFor(() => expect(stdout.readableLength).toBeGreaterThan(0))
  expect(textOf(stdout)).toBe('[0/4 scored]\n')
  const all = ['os/a#1.1', 'os/b#1.1', 'chrome/c#1.1', 'chrome/d#1.1'].flatMap((name) => attemptEvents(name, valid(1)))
  await place.record(...all, { event: 'RUN_ENDED', timestamp: new Date().toISOString(), reason: 'complete' })
  await lock.release()
  expect(await watching).toBe(0)
  expect(textOf(stdout)).toMatch(/^\[4\/4 scored\]\nr1: ended \(complete\) \d s ago\nscore 1\.0000 over 4 planned tasks, coverage 1\.0000 \(4 valid\)\n$/)
})

test('watching on a terminal redraws in place, for programs it prints a line a change', async () => {
  await place.record({ event: 'RUN_ENDED', timestamp: new Date().toISOString(), reason: 'interrupted' })
  const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 60, rows: 20 })
  expect(await printed('r1', { watch: true }, terminal)).toContain('\u001B[?2026hr1: ended')
  expect((await printed('r1', { watch: true, json: true })).trim().split('\n').map((line) => (JSON.parse(line) as { state: string }).state)).toEqual(['ended'])
})

test('a broken status.json counts as none', async () => {
  await holdRun()
  await writeFile(join(place.runFolder, 'status.json'), '{"schema_version": 9}')
  expect(await printed('r1')).toContain(' · preparing\n')
})

test.each([
  ['r2', /^There is no run "r2" in .*, which holds r1; give the name of a run there, or the path of a run folder\.$/],
  ['./no/run', /^There is no run in .*\/no\/run: give the name of a run in the results folder, or the path of a run folder\.$/],
])('%s is refused in one sentence', async (run, sentence) => {
  await expect(printed(run)).rejects.toMatchObject({ name: 'ReportError', message: expect.stringMatching(sentence) as string })
})
