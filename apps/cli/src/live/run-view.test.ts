import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { aggregate, noTotals } from '@osworld-e2b/aggregation'
import { parseJsonDocument, runStatusSchema } from '@osworld-e2b/contracts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { CampaignEvent } from '@osworld-e2b/scheduler'
import { linesView } from './lines-view.ts'
import { statusDocument } from './run-status.ts'
import { createRunView, isLive, type RunView, type RunViewOptions } from './run-view.ts'
import { initialStatus } from './status-state.ts'
import type { TerminalStream } from './terminal-view.ts'

let runFolder: string
let view: RunView | undefined
beforeEach(async () => {
  runFolder = await mkdtemp(join(tmpdir(), 'run-view-'))
})
afterEach(async () => {
  await view?.dispose()
  view = undefined
  await rm(runFolder, { recursive: true, force: true })
})

const plan = { runId: 'r1', planned: 3, numEnvs: 2, maxSteps: 15, maxAttemptsPerTrial: 2, sandboxHourUsd: 0 }
const identity = (id: string, attempt = 1) => ({ domain: 'os', id, trial: 1, attempt, attemptDir: 'x' })
const events: readonly CampaignEvent[] = [
  { type: 'orphans_killed', when: 'start', orphans: { found: 2, killed: 1, remaining: 1 } },
  { type: 'orphans_killed', when: 'during', orphans: { found: 0, killed: 0, remaining: 0 } },
  { type: 'attempt_started', identity: identity('a') },
  { type: 'attempt_phase', identity: identity('a'), phase: 'agent' },
  { type: 'attempt_step', identity: identity('a'), step: 1 },
  { type: 'run_paused', reason: 'model_unhealthy', message: 'The model answers 503.\n\u001B[2J' },
  { type: 'run_continued', reason: 'model_unhealthy' },
  { type: 'attempt_ended', identity: identity('a'), report: { outcome: { kind: 'valid', reward: 1 }, cleanup: 'success', seconds: 1.23, steps: 1 } },
  { type: 'attempt_ended', identity: identity('b', 2), report: { outcome: { kind: 'invalid', reason: 'guest_lost', message: 'Gone.' }, cleanup: 'success', seconds: 2, steps: 2 } },
  { type: 'draining' },
  { type: 'stopping' },
]
const result = aggregate({ runId: 'r1', tasks: [], trials: 1, state: new Map(), totals: noTotals, updatedAt: '2026-01-01T00:00:00.000Z', labels: { unconfined: false, unverified: false } })

interface Outputs {
  readonly stdout: PassThrough
  readonly stderr: PassThrough & TerminalStream
}

function outputs(terminal?: { readonly columns: number; readonly rows: number }): Outputs {
  const stderr: PassThrough & TerminalStream = new PassThrough()
  return { stdout: new PassThrough(), stderr: terminal === undefined ? stderr : Object.assign(stderr, { isTTY: true, ...terminal }) }
}

function shown(to: Outputs, given: Partial<RunViewOptions> = {}): RunView {
  view = createRunView({ runFolder, plan, recorded: { state: new Map(), costUsd: 0 }, ...to, environment: { TERM: 'xterm' }, json: false, verbose: false, now: () => new Date('2026-01-01T00:00:00.000Z'), ...given })
  return view
}

function textOf(stream: PassThrough): string {
  const bytes = stream.read() as Buffer | null
  return bytes === null ? '' : bytes.toString('utf8')
}

/** Control sequences in a readable form. */
function readable(text: string): string {
  return text.split('\u001B[').map((part, index) => (index === 0 ? part : part.replace(/^[?\d]*\w/, '<$&>'))).join('')
}

test('without a terminal there are plain lines without control codes, and standard output stays free for the result', async () => {
  const to = outputs()
  const running = shown(to)
  for (const event of events) running.take(event)
  running.line('SIGINT: stopping')
  await running.end(result)
  expect(textOf(to.stderr).split('\n')).toEqual([
    'sandboxes without an owner at the start: 2 found, 1 killed, 1 still there',
    'os/a: started',
    'paused, nothing more is started for now: The model answers 503.',
    'goes on: the model answers again',
    'os/a: reward 1, 1 step, 1.2 s [1/3 scored, about 1 s left]',
    'os/b attempt 2: no score (guest_lost): Gone, 2 steps, 2.0 s [1/3 scored, about 2 s left]',
    'draining: what runs is finished, nothing more is started',
    'stopping: what runs is ended',
    'SIGINT: stopping',
    '',
  ])
  expect(to.stdout.read()).toBeNull()
})

test('verbose lines name the phases too', () => {
  const to = outputs()
  shown(to, { verbose: true }).take({ type: 'attempt_phase', identity: identity('a'), phase: 'setup' })
  expect(textOf(to.stderr)).toBe('os/a: setup\n')
})

test('a silence is broken by a line on what runs', async () => {
  const output = new PassThrough()
  let seconds = 0
  const running = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ domain: 'os', id, trial: 1, attempt: 1, phase: 'agent' as const, step: 2, max_steps: 9, started_at: '1970-01-01T00:00:00.000Z' }))
  const status = { ...statusDocument(initialStatus({ ...plan, startedMs: 0, before: { valid: 0, failed: 0, rewardSum: 0, costUsd: 0 } }), 0), running }
  const lines = linesView({ output, verbose: false, status: () => status, nowMs: () => 1000 * seconds++, quietMs: 40 })
  try {
    await vi.waitFor(() => expect(output.readableLength).toBeGreaterThan(0))
    expect(textOf(output)).toMatch(/^5 running: os\/a \(agent, step 2, \d+ s\), .*, os\/d \(agent, step 2, \d+ s\), and 1 more \[0\/3 scored\]\n/)
  } finally {
    lines.dispose()
  }
})

test('for programs every event is one JSON line with its time, and the last one is the aggregate', async () => {
  const to = outputs({ columns: 80, rows: 24 })
  const running = shown(to, { json: true })
  for (const event of events) running.take(event)
  running.line('SIGINT: stopping')
  await running.end(result)
  const timestamp = '2026-01-01T00:00:00.000Z'
  const lines = textOf(to.stdout).trim().split('\n').map((line) => JSON.parse(line) as unknown)
  expect(lines).toEqual([...events.map((event) => ({ ...event, timestamp })), { type: 'line', text: 'SIGINT: stopping', timestamp }, { type: 'run_ended', run_folder: runFolder, aggregate: result, timestamp }])
  expect(to.stderr.read()).toBeNull()
})

test('on a terminal a block is redrawn, what ended stays above it, and the end leaves the last picture', async () => {
  const to = outputs({ columns: 60, rows: 20 })
  const running = shown(to, { environment: { TERM: 'xterm', NO_COLOR: '1' } })
  running.take({ type: 'attempt_started', identity: identity('a') })
  await vi.waitFor(() => expect(to.stderr.readableLength).toBeGreaterThan(0))
  expect(textOf(to.stderr)).toContain('  os/a')
  running.take({ type: 'attempt_ended', identity: identity('a'), report: { outcome: { kind: 'valid', reward: 1 }, cleanup: 'success', seconds: 1, steps: 1 } })
  running.line('somebody else')
  await running.end(result)
  const last = textOf(to.stderr)
  // The old block is erased first, so that the line takes its place.
  expect(readable(last)).toMatch(/^<\?2026h><2K><1A>.*<G>os\/a: reward 1, 1 step, 1\.0 s\n/)
  expect(last.indexOf('os/a: reward')).toBeLessThan(last.indexOf('somebody else'))
  expect(last.indexOf('somebody else')).toBeLessThan(last.lastIndexOf('r1 · 0 s · ended'))
  expect(last).toContain('1/3 valid · 2 not run')
})

test('a run that breaks takes its block away and loses no line', async () => {
  const to = outputs({ columns: 60, rows: 20 })
  const running = shown(to)
  await vi.waitFor(() => expect(to.stderr.readableLength).toBeGreaterThan(0))
  textOf(to.stderr)
  running.line('the last line')
  await running.dispose()
  expect(readable(textOf(to.stderr)).replaceAll(/<[?\d]*\w>/g, '')).toBe('the last line\n')
})

test('status.json follows the run to its end', async () => {
  const running = shown(outputs())
  const path = join(runFolder, 'status.json')
  await vi.waitFor(async () => expect(await readFile(path, 'utf8')).toContain('"state": "running"'))
  running.take({ type: 'attempt_ended', identity: identity('a'), report: { outcome: { kind: 'valid', reward: 1 }, cleanup: 'success', seconds: 1, steps: 1 } })
  await running.end(result)
  expect(parseJsonDocument(runStatusSchema, path, await readFile(path, 'utf8'))).toMatchObject({ state: 'ended', valid: 1, planned: 3, running: [] })
})

test.each([
  ['a terminal', true, { TERM: 'xterm' }, true],
  ['a pipe', false, { TERM: 'xterm' }, false],
  ['a terminal that cannot', true, { TERM: 'dumb' }, false],
  ['a CI service with a terminal', true, { TERM: 'xterm', CI: 'true' }, false],
  ['a terminal where CI is off', true, { TERM: 'xterm', CI: 'false' }, true],
])('whether the block is drawn: %s', (_, isTTY, environment, expected) => {
  expect(isLive({ isTTY }, environment)).toBe(expected)
})
