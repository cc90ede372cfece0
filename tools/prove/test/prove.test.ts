import { execFileSync } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { access, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listenForInterrupts } from '../src/interrupts.ts'
import type { Proof } from '../src/proof.ts'
import { prove, type ProveOptions } from '../src/prove.ts'
import { proofRecordSchema } from '../src/record.ts'
import type { RunPlan } from '../src/run-osworld.ts'

const tinyOsworld = fileURLToPath(new URL('tiny-osworld.mjs', import.meta.url))
const solve: RunPlan = { name: 'solve 1', expectedReward: 1, numEnvs: 2, args: [] }
const none: RunPlan = { name: 'none', expectedReward: 0, numEnvs: 2, args: ['--reward', '0'] }
const proofOf = (...plans: readonly RunPlan[]): Proof => ({ name: 'tiny', claim: 'It works.', plan: () => Promise.resolve(plans) })

let folder: string
let lines: string[]
let source: EventEmitter
let options: ProveOptions

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'osworld-prove-'))
  lines = []
  source = new EventEmitter()
  git('init', '--quiet')
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '--message', 'First')
  const places = await mkdtemp(join(folder, '.git', 'places-'))
  options = {
    checkout: folder,
    command: [process.execPath, tinyOsworld],
    ownProgram: false,
    records: join(folder, 'validation', 'proofs'),
    results: join(places, 'runs'),
    environment: process.env,
    now: () => new Date('2026-03-04T05:06:07Z'),
    interrupts: listenForInterrupts(source),
    progress: (line) => lines.push(line),
  }
})
afterEach(() => rm(folder, { recursive: true }))

const git = (...args: readonly string[]) => execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' }).trim()
const records = () => readdir(options.records).catch(() => [])

test('a claim that holds is recorded with its commit, its machine and the figures of every task', async () => {
  await prove(proofOf(solve, none), options)
  expect(await records()).toEqual(['2026-03-04-tiny.json'])
  const text = await readFile(join(options.records, '2026-03-04-tiny.json'), 'utf8')
  const record = proofRecordSchema.parse(JSON.parse(text))
  expect(record).toMatchObject({ passed: true, failures: [], claim: 'It works.', own_program: false, commit: { sha: git('rev-parse', 'HEAD'), dirty: false } })
  expect(record.figures.runs).toMatchObject([
    { name: 'solve 1', expected_reward: 1, num_envs: 2, exit_code: 0, labels: ['unverified'], planned_tasks: 1, tasks: [{ reward: 1, seconds: 1.5, steps: 2 }] },
    { name: 'none', expected_reward: 0, tasks: [{ reward: 0 }] },
  ])
  expect(text).not.toContain(folder)
  expect(text).not.toContain(hostname())
})

test('a claim that does not hold is recorded too, with what failed', async () => {
  const record = await prove(proofOf(solve, { ...none, args: ['--reward', '1'] }), options)
  expect(record).toMatchObject({ passed: false, failures: ['none: os/bread scored 1 instead of reward 0.'] })
  expect(await records()).toHaveLength(1)
})

test('a record of the same day is replaced, and an uncommitted record does not make the next one dirty', async () => {
  await prove(proofOf(solve), options)
  const again = await prove(proofOf(solve), { ...options, results: `${options.results}-again` })
  expect(again.commit.dirty).toBe(false)
  expect(await records()).toHaveLength(1)
})

test('any other file that is not committed makes the record dirty', async () => {
  await writeFile(join(folder, 'notes.txt'), 'x')
  expect((await prove(proofOf(solve), options)).commit.dirty).toBe(true)
})

test('the program is told of the run as a user would, and its lines are shown', async () => {
  await prove(proofOf(solve), options)
  const args = JSON.parse(await readFile(join(options.results, 'solve-1', 'arguments.json'), 'utf8')) as unknown
  expect(args).toEqual(['run', '--results', options.results, '--run-id', 'solve-1', '--num-envs', '2'])
  expect(lines).toEqual(expect.arrayContaining(['Run 1 of 1: solve 1', '  os/bread: ended', 'record: 2026-03-04-tiny.json']))
  expect(await readFile(join(options.results, 'solve-1.log'), 'utf8')).toBe('os/bread: ended\n')
})

test('a stop is handed to the program, waits for its end, and leaves no record', async () => {
  const proof = proofOf({ ...solve, args: ['--wait'] }, none)
  const stopWhenWaiting = (line: string) => {
    if (line === '  waiting') source.emit('SIGINT', 'SIGINT')
  }
  await expect(prove(proof, { ...options, progress: stopWhenWaiting })).rejects.toMatchObject({ code: 'interrupted' })
  await access(join(options.results, 'solve-1', 'stopped'))
  expect(await readdir(options.results)).not.toContain('none')
  expect(await records()).toEqual([])
})

test('a first run that is refused proves nothing, a later one fails the proof', async () => {
  const refused: RunPlan = { ...solve, name: 'solve 2', args: ['--refuse'] }
  await expect(prove(proofOf(refused), options)).rejects.toMatchObject({ code: 'not_ready' })
  expect(lines).toContain('  There is no suite here.')
  expect(await records()).toEqual([])
  const record = await prove(proofOf(solve, refused), options)
  expect(record.failures).toContain('solve 2: osworld run ended with exit code 2 instead of 0.')
  expect(record.failures).toContain('solve 2: the run left no readable result.')
})

test('a program that cannot be started is said in one sentence', async () => {
  const gone: ProveOptions = { ...options, command: [join(folder, 'gone')] }
  await expect(prove(proofOf(solve), gone)).rejects.toMatchObject({ code: 'not_ready', message: expect.stringContaining('could not be started') as string })
})

test('a folder that git does not know is refused before any run', async () => {
  await rm(join(folder, '.git'), { recursive: true })
  await expect(prove(proofOf(solve), options)).rejects.toMatchObject({ code: 'not_ready' })
  expect(lines).toEqual([])
})
