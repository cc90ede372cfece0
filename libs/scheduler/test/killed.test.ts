import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { aggregateSchema, type LedgerEvent, ledgerEventSchema } from '@osworld-e2b/contracts'
import { build } from 'tsup'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'

const programs = fileURLToPath(new URL('.', import.meta.url))
/** In the workspace, so that the packages of the registry are found from there. */
const compiled = fileURLToPath(new URL('../test-results/killed', import.meta.url))

beforeAll(async () => {
  await build({
    config: false,
    silent: true,
    entry: [join(programs, 'killed-coordinator.ts')],
    format: ['esm'],
    platform: 'node',
    target: 'node20',
    outDir: compiled,
    noExternal: [/^@osworld-e2b\//],
    skipNodeModulesBundle: true,
    esbuildOptions: (options) => {
      options.conditions = ['@osworld-e2b/source', 'node', 'import', 'default']
    },
  })
})

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'killed-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

type Death = 'never' | 'before' | 'after' | 'torn' | 'garbage' | 'with its relays'

/** Runs the coordinator to its end, which is its death or the run's. */
async function coordinate(death: Death = 'never', at = 0) {
  const child = spawn(process.execPath, [join(compiled, 'killed-coordinator.js'), folder, programs, death, String(at)], { stdio: ['ignore', 'ignore', 'pipe'] })
  const chunks: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [exitCode, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return { exitCode, signal, stderr: Buffer.concat(chunks).toString() }
}

/** The ledger's whole lines that can be read. */
async function readEvents(): Promise<readonly LedgerEvent[]> {
  const lines = (await readFile(join(folder, 'attempts.jsonl'), 'utf8')).split('\n').slice(0, -1)
  return lines.map((line) => ledgerEventSchema.parse(JSON.parse(line)))
}

/** Valid rewards by task; every attempt counts, so that one too many would be seen. */
async function readRewards() {
  const ends = (await readEvents()).flatMap((event) => (event.event === 'TERMINAL' && event.outcome.kind === 'valid' ? [[event.task_id, event.outcome.reward] as const] : []))
  return ends.sort(([one], [other]) => one.localeCompare(other))
}

/** Processes that name the run's folder, the coordinator and all that it starts. */
async function processes(): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return lines.filter((line) => line.includes(folder))
}

async function expectNoProcess(): Promise<void> {
  await expect.poll(processes, { timeout: 10_000, interval: 20 }).toEqual([])
}

/** Events of an undisturbed run of two tasks. */
const appends = 8
const every = Array.from({ length: appends }, (_, index) => index + 1)
const deaths: readonly (readonly [Death, readonly number[]])[] = [
  ['before', every],
  ['after', every],
  ['torn', every],
  // A garbage tail is the same whatever stands before it; of each kind of event one.
  ['garbage', [1, 2, 4, 6, 8]],
]

test('undisturbed, the run has its eight events and both rewards', async () => {
  expect(await coordinate()).toEqual({ exitCode: 0, signal: null, stderr: '' })
  expect((await readEvents()).map(({ event }) => event).sort()).toEqual(['PLANNED', 'PLANNED', 'RUN_ENDED', 'RUN_STARTED', 'STARTED', 'STARTED', 'TERMINAL', 'TERMINAL'])
  expect(await readRewards()).toEqual([['a', 1], ['b', 0.25]])
  await expectNoProcess()
})

const cases = deaths.flatMap(([death, places]) => places.map((at) => [death, at] as const))

test.each(cases)('killed %s, at append %i, the run resumes to the same rewards, loses only what was open, and leaves nothing', async (death, at) => {
  expect(await coordinate(death, at)).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
  await expectNoProcess()
  const before = await readEvents()
  expect(before.length).toBeGreaterThanOrEqual(death === 'before' || death === 'torn' ? at - 1 : at)
  await expectResumed(before)
  expect((await readEvents()).some(({ event }) => event === 'TAIL_CUT')).toBe(death === 'torn' || death === 'garbage')
})

test('killed with its relays, whose sandboxes nobody ended, the run resumes as well and ends them', async () => {
  expect(await coordinate('with its relays')).toMatchObject({ exitCode: null, signal: 'SIGKILL' })
  await expectNoProcess()
  const sandboxes = await readdir(join(folder, 'sandboxes'))
  expect(sandboxes.length).toBeGreaterThan(0)
  await expectResumed(await readEvents())
  expect(await readEvents()).toContainEqual(expect.objectContaining({ event: 'ORPHANS_KILLED', when: 'start', orphans: { found: sandboxes.length, killed: sandboxes.length, remaining: 0 } }))
})

/** Starts the run again and checks it against an undisturbed one; `before` is its ledger up to then. */
async function expectResumed(before: readonly LedgerEvent[]): Promise<void> {
  const count = (name: LedgerEvent['event']) => before.filter(({ event }) => event === name).length
  const open = count('PLANNED') - count('TERMINAL')
  expect(await coordinate()).toEqual({ exitCode: 0, signal: null, stderr: '' })
  expect(await readRewards()).toEqual([['a', 1], ['b', 0.25]])
  const aggregate = aggregateSchema.parse(JSON.parse(await readFile(join(folder, 'aggregate.json'), 'utf8')))
  expect(aggregate).toMatchObject({ complete: true, valid_tasks: 2, score_declared: 0.625, planned_attempts: 2 + open, terminal_attempts: 2 + open })
  expect(aggregate.invalid_by_reason).toEqual(open === 0 ? {} : { interrupted: open })
  expect((await readEvents()).slice(0, before.length)).toEqual(before)
  expect(await readdir(join(folder, 'sandboxes'))).toEqual([])
  expect(await readdir(join(folder, 'tmp'))).toEqual([])
  expect(await readdir(folder)).not.toContain('run.lock')
  await expectNoProcess()
}
