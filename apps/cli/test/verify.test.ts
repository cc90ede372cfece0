import { appendFile, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { parseJsonDocument, type VerifyReport, verifyReportSchema } from '@osworld-e2b/contracts'
import { sha256Hex } from '@osworld-e2b/inventory'
import { expect, onTestFinished, test } from 'vitest'
import { UsageError } from '../src/usage-error.ts'
import { verify } from '../src/commands/verify.ts'
import { createSteps } from '../src/run/steps.ts'
import type { VerifyArguments } from '../src/verify/arguments.ts'
import { makeRecordedRun, picture, put, type RecordedRun, startRun } from './recorded-run.ts'
import { digestFolder, startLivingProcess } from './stale-place.ts'

interface Verified {
  readonly report: VerifyReport
  readonly code: number
  /** What was told on standard error. */
  readonly notes: string
}

async function verifyRun(run: RecordedRun, given: VerifyArguments = {}, environment: NodeJS.ProcessEnv = {}): Promise<Verified> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const code = await verify(run.runId, { results: run.results, json: true, ...given }, { environment, stdout, steps: createSteps(stderr) })
  return { report: parseJsonDocument(verifyReportSchema, 'the report', String(stdout.read())), code, notes: String(stderr.read() ?? '') }
}

const sort = 'attempts/os/sort/1.2'
const play = 'attempts/vlc/play/1.1'
const copy = 'get an unchanged copy of the folder, or run the trial again in a new run.'

async function edit(path: string, change: (text: string) => string): Promise<void> {
  const text = await readFile(path, 'utf8')
  const changed = change(text)
  expect(changed).not.toBe(text)
  await writeFile(path, changed)
}

test('a whole run has no fault, and is not changed by the look', async () => {
  const run = await makeRecordedRun()
  const before = await digestFolder(run.results)
  const { report, code, notes } = await verifyRun(run)
  expect(report.faults).toEqual([])
  expect(code).toBe(0)
  // PLANNED and TERMINAL of three attempts, RUN_STARTED and RUN_ENDED.
  expect(report).toMatchObject({ run_id: 'one', checked: { ledger_events: 8, attempts: 3, artifacts: 11 } })
  expect(report.checked.bytes).toBeGreaterThan(3 * picture.length)
  expect(notes).toBe('')
  expect(await digestFolder(run.results)).toBe(before)
})

test('for people every fault is a line, and the last one counts them', async () => {
  const run = await makeRecordedRun()
  await rm(run.at(`${play}/stdout.log`))
  const stdout = new PassThrough()
  expect(await verify(run.folder, {}, { environment: {}, stdout, steps: createSteps(new PassThrough()) })).toBe(1)
  const lines = String(stdout.read()).trimEnd().split('\n')
  expect(lines).toEqual([`artifact  ${play}/stdout.log is missing, and the catalog has it; ${copy}`, expect.stringMatching(/^one: 1 fault in 8 ledger events, 3 attempts, 10 files \(\d+ B\)$/)])
})

type Mutation = readonly [title: string, mutate: (run: RecordedRun) => Promise<void>, faults: readonly (readonly [kind: string, path: string, message: string | RegExp])[]]

const mutations: readonly Mutation[] = [
  [
    'a flipped bit in a screenshot',
    (run) => writeFile(run.at(`${sort}/screenshots/step_1.png`), Buffer.from(picture.map((byte, index) => (index === 12 ? byte ^ 1 : byte)))),
    [['artifact', `${sort}/screenshots/step_1.png`, /^attempts\/os\/sort\/1\.2\/screenshots\/step_1\.png was changed: it has 16 bytes and the SHA-256 [0-9a-f]{64}, and the catalog says 16 bytes and [0-9a-f]{64}; get an unchanged copy/]],
  ],
  ['an artifact that is gone', (run) => rm(run.at(`${play}/stdout.log`)), [['artifact', `${play}/stdout.log`, `${play}/stdout.log is missing, and the catalog has it; ${copy}`]]],
  [
    'a file that was added to an attempt',
    (run) => put(run.at(`${play}/screenshots/better.png`), picture),
    [['artifact', `${play}/screenshots/better.png`, `${play}/screenshots/better.png is in no catalog, so it was put there after the attempt; move it out of the run folder.`]],
  ],
  [
    'a reward that was edited in the ledger',
    (run) => edit(run.at('attempts.jsonl'), (text) => text.replace('"reward":0', '"reward":1')),
    [
      ['ledger', `${play}/result.txt`, `${play}/result.txt says "0.0", and the ledger has the reward 1: one of them was edited; ${copy}`],
      ['aggregate', 'aggregate.json', /reward_sum is 1 and should be 2.* score_declared is 0\.5 and should be 1;/],
    ],
  ],
  [
    'a result that was edited together with its catalog',
    async (run) => {
      await writeFile(run.at(`${play}/result.txt`), '1.0\n')
      await edit(run.at(`${play}/artifacts.json`), (text) => text.replace(sha256Hex('0.0\n'), sha256Hex('1.0\n')))
    },
    [
      ['catalog', `${play}/artifacts.json`, /has the SHA-256 [0-9a-f]{64}, and the ledger names [0-9a-f]{64}, so nothing vouches for the attempt's files/],
      ['ledger', `${play}/result.txt`, /says "1\.0", and the ledger has the reward 0/],
    ],
  ],
  [
    'two catalogs that were swapped',
    async (run) => {
      await rename(run.at(`${sort}/artifacts.json`), run.at('swap'))
      await rename(run.at(`${play}/artifacts.json`), run.at(`${sort}/artifacts.json`))
      await rename(run.at('swap'), run.at(`${play}/artifacts.json`))
    },
    [
      ['catalog', `${sort}/artifacts.json`, /and the ledger names/],
      ['catalog', `${play}/artifacts.json`, /and the ledger names/],
    ],
  ],
  ['a catalog that is gone', (run) => rm(run.at(`${sort}/artifacts.json`)), [['catalog', `${sort}/artifacts.json`, `${sort}/artifacts.json is missing, so nothing vouches for the attempt's files; ${copy}`]]],
  ['an attempt whose folder is gone', (run) => rm(run.at(sort), { recursive: true }), [['catalog', sort, `${sort} is missing, and the ledger names its catalog; ${copy}`]]],
  [
    'an attempt that the ledger knows nothing of',
    (run) => put(run.at('attempts/os/sort/1.3/result.txt'), '1.0\n'),
    [['leftover', 'attempts/os/sort/1.3', 'attempts/os/sort/1.3 belongs to no attempt of the ledger, so nothing vouches for it; move it out of the run folder, or get an unchanged copy of the ledger.']],
  ],
  [
    'a plan with fewer tasks',
    (run) => edit(run.at('contract.json'), (text) => JSON.stringify({ ...(JSON.parse(text) as typeof run.contract), scoring: { ...run.contract.scoring, tasks: run.contract.scoring.tasks.slice(0, 1) } })),
    [
      ['identity', 'contract.json', /^contract\.json is not what the run was made with: its scoring has the digest [0-9a-f]{64}, and run\.json records [0-9a-f]{64}; get an unchanged copy of the folder\.$/],
      ['identity', play, `vlc/play is no task of contract.json, and the ledger has an attempt at it; ${copy}`],
      ['aggregate', 'aggregate.json', /planned_tasks is 2 and should be 1/],
    ],
  ],
  ['a better score in the aggregate', (run) => edit(run.at('aggregate.json'), (text) => text.replace('"score_declared": 0.5', '"score_declared": 1')), [['aggregate', 'aggregate.json', /^aggregate\.json is not what the ledger amounts to: score_declared is 1 and should be 0\.5\. Either/]]],
  ['an aggregate that is gone', (run) => rm(run.at('aggregate.json')), [['aggregate', 'aggregate.json', /^aggregate\.json is missing though the run was started: start the run again with the same --run-id/]]],
  ['a document with an unknown field', (run) => edit(run.at('aggregate.json'), (text) => text.replace('{', '{"flattering": true,')), [['document', 'aggregate.json', /^aggregate\.json is not valid: .*flattering.* get an unchanged copy, or verify with the version that made the run\.$/]]],
  ['a document that is gone', (run) => rm(run.at('run.json')), [['document', 'run.json', 'run.json is missing; get it from a whole copy of the folder.']]],
  [
    'a line of the ledger that is no event',
    (run) => edit(run.at('attempts.jsonl'), (text) => text.replace(/\n/, '\nnonsense\n')),
    [['ledger', 'attempts.jsonl', /^attempts\.jsonl line 2 is not valid: it is not JSON .* The ledger was edited, damaged, or written by two owners: get an unchanged copy of the folder\.$/]],
  ],
  [
    'a line of the ledger that was taken out',
    (run) => edit(run.at('attempts.jsonl'), (text) => text.split('\n').filter((line) => !/"event":"RUN_STARTED"/.test(line)).join('\n')),
    Array.from({ length: 7 }, (_, index) => ['ledger', 'attempts.jsonl', new RegExp(`^attempts\\.jsonl line ${index + 1}: \\w+ stands before any RUN_STARTED\\. The ledger was edited`)] as const),
  ],
  [
    'a second end of an attempt',
    (run) => edit(run.at('attempts.jsonl'), (text) => text.replace(/(.*"TERMINAL".*"play".*\n)/, (line) => line + line)),
    [['ledger', 'attempts.jsonl', /^attempts\.jsonl line \d: The ledger has TERMINAL of vlc\/play#1 attempt 1 after attempt 1 terminal/]],
  ],
  [
    'an attempt that names the evidence of another',
    (run) => edit(run.at('attempts.jsonl'), (text) => text.replace(`"attempt_dir":"${play}"`, `"attempt_dir":"${sort}"`)),
    [
      ['ledger', 'attempts.jsonl', new RegExp(`line \\d: PLANNED names the folder ${sort}, and the attempt's own is ${play}\\.`)],
      ['catalog', `${sort}/artifacts.json`, /and the ledger names/],
      ['identity', `${sort}/task.json`, /is not the task of contract\.json/],
      ['ledger', `${sort}/result.txt`, /says "1\.0", and the ledger has the reward 0/],
      ['leftover', play, /belongs to no attempt/],
    ],
  ],
  [
    'a torn line after the end of the run',
    (run) => appendFile(run.at('attempts.jsonl'), '{"event":"PLAN'),
    [['ledger', 'attempts.jsonl', 'The last 14 bytes of attempts.jsonl are no whole line, and the run had ended before them: get an unchanged copy of the folder.']],
  ],
  ['a link among the evidence', (run) => symlink('/etc/hostname', run.at(`${play}/hostname`)), [['leftover', `${play}/hostname`, `${play}/hostname is a link, which is no evidence and is in no catalog; remove it.`]]],
  [
    'an attempt that is reached through a link',
    async (run) => {
      await rename(run.at('attempts/vlc'), join(run.results, 'elsewhere'))
      await symlink(join(run.results, 'elsewhere'), run.at('attempts/vlc'))
    },
    [
      ['leftover', play, `${play} is reached through a link, which is no part of a run folder, and was not looked into; ${copy}`],
      ['leftover', 'attempts/vlc', 'attempts/vlc is a link, which is no evidence and is in no catalog; remove it.'],
    ],
  ],
  ['a document that is a link', async (run) => (await rename(run.at('run.json'), join(run.results, 'elsewhere.json')), symlink(join(run.results, 'elsewhere.json'), run.at('run.json'))), [['leftover', 'run.json', /^run\.json is a link/]]],
  ['a half-written document', (run) => put(run.at('.aggregate.json.0123456789ab.tmp'), '{'), [['leftover', '.aggregate.json.0123456789ab.tmp', '.aggregate.json.0123456789ab.tmp was left half-written by a coordinator that was ended; remove it.']]],
]

test.each(mutations)('%s: found and named', async (_title, mutate, faults) => {
  const run = await makeRecordedRun()
  await mutate(run)
  const { report, code } = await verifyRun(run)
  expect(report.faults.map(({ kind, path }) => [kind, path])).toEqual(faults.map(([kind, path]) => [kind, path]))
  for (const [index, [, , message]] of faults.entries()) {
    const found = report.faults[index]?.message
    if (message instanceof RegExp) expect(found).toMatch(message)
    else expect(found).toBe(message)
  }
  expect(code).toBe(1)
})

test('a key in a log is found as it is, in base64 and URL-encoded, by the name of its variable', async () => {
  const run = await makeRecordedRun({ endpoints: [{ label: 'MODEL_URL', api_key_variable: 'MODEL_KEY' }] })
  const [named, ofContract, e2b] = ['a value with spaces/1', 'model-key-of-contract', 'not-shaped-like-a-key']
  await put(run.at('notes.txt'), `first ${encodeURIComponent(named)} and ${named}`)
  await put(run.at('report/page.html'), `<p>${Buffer.from(`user:${ofContract}`).toString('base64')}</p>`)
  await put(run.at('attempts/os/sort/1.9/stderr.log'), e2b)
  const { report, code } = await verifyRun(run, { secretVariable: ['OTHER'] }, { OTHER: named, MODEL_KEY: ofContract, E2B_API_KEY: e2b })
  const next = 'keep the folder from others, and have that secret replaced where it was issued.'
  expect(report.faults.filter(({ kind }) => kind === 'secret').map(({ message }) => message)).toEqual([
    `attempts/os/sort/1.9/stderr.log holds the value of E2B_API_KEY at byte 0: ${next}`,
    `notes.txt holds the value of OTHER at byte 6 and at 1 more place: ${next}`,
    expect.stringMatching(/^report\/page\.html holds the value of MODEL_KEY at byte \d+: keep/),
  ])
  expect(JSON.stringify(report)).not.toContain(e2b)
  expect(code).toBe(1)
})

test('what looks like a key is found whoever issued it, also in the ledger and in a log of an attempt', async () => {
  const run = await makeRecordedRun()
  await appendFile(run.at(`${sort}/stdout.log`), `Authorization: sk-${'a1'.repeat(20)}\n`)
  const { report } = await verifyRun(run)
  expect(report.faults).toMatchObject([
    { kind: 'artifact', path: `${sort}/stdout.log`, message: expect.stringContaining('was changed') as string },
    { kind: 'secret', path: `${sort}/stdout.log`, message: expect.stringMatching(/holds what looks like a secret \(.*\) at byte 21:/) as string },
  ])
})

test('stand-ins for a key of an endpoint that needs none are not looked for', async () => {
  const run = await makeRecordedRun({ endpoints: [{ label: 'MODEL_URL', api_key_variable: 'MODEL_KEY' }] })
  expect((await verifyRun(run, {}, { MODEL_KEY: 'noise' })).report.faults).toEqual([])
  expect((await verifyRun(run, { secretVariable: ['MODEL_KEY'] }, { MODEL_KEY: 'noise' })).report.faults.map(({ kind }) => kind)).toEqual(['secret', 'secret', 'secret'])
})

test.each([
  ['that is not set', {}, '--secret-variable: NAME is not set in the environment, so its value cannot be looked for; set it, or leave the name out.'],
  ['whose value is in every text', { NAME: 'abc' }, '--secret-variable: the value of NAME has under 4 characters and stands in every text; leave the name out.'],
])('a named variable %s is refused', async (_what, environment, message) => {
  const run = await makeRecordedRun()
  await expect(verifyRun(run, { secretVariable: ['NAME'] }, environment)).rejects.toThrow(new UsageError(message))
})

test('a folder that is no run is refused, and so is a name that none has', async () => {
  const run = await makeRecordedRun()
  const empty = join(run.results, 'empty')
  await mkdir(empty)
  await expect(verifyRun({ ...run, runId: 'empty' })).rejects.toThrow(new UsageError(`There is no run in ${empty}: give the name of a run in the results folder, or the path of a run folder.`))
  await expect(verifyRun({ ...run, runId: 'two' })).rejects.toThrow(`There is no run "two" in ${run.results}`)
})

/** As a coordinator leaves it that was killed while an attempt ran. */
async function interrupt(run: RecordedRun): Promise<void> {
  await edit(run.at('attempts.jsonl'), (text) => text.split('\n').filter((line) => !/"RUN_ENDED"|"TERMINAL".*"play"/.test(line)).join('\n'))
  await rm(run.at(`${play}/artifacts.json`))
}

test('an attempt that never ended is found when nobody holds the run, and the resumed run has no fault', async () => {
  const run = await makeRecordedRun()
  await interrupt(run)
  await appendFile(run.at('attempts.jsonl'), '{"event":"TERM')
  const { report, code, notes } = await verifyRun(run)
  expect(report.faults).toMatchObject([
    { kind: 'leftover', path: play, message: 'vlc/play#1 attempt 1 was planned and never ended, and no process holds the run: resume it with the same --run-id, which closes the attempt.' },
    { kind: 'aggregate' },
  ])
  expect(code).toBe(1)
  expect(notes).toBe('The last 14 bytes of attempts.jsonl are no whole line: a coordinator was ended while it wrote; the next start of the run cuts them off.\n')
  await startRun(run)
  expect((await verifyRun(run)).report.faults).toEqual([])
})

test('what a living owner is writing is not judged, and what has ended is', async () => {
  const run = await makeRecordedRun()
  const owner = await startLivingProcess()
  onTestFinished(owner.end)
  await interrupt(run)
  await put(run.at('attempts/os/sort/1.7/stdout.log'), 'planned since the ledger was read')
  await writeFile(run.at('run.lock'), JSON.stringify({ schema_version: 1, host: hostname(), pid: owner.pid, pid_start: owner.startTime, acquired_at: '2026-01-01T00:00:00.000Z' }))
  const { report, code, notes } = await verifyRun(run)
  expect(report.faults).toEqual([])
  expect(code).toBe(0)
  expect(notes).toBe(`The run is going on (process ${owner.pid} on ${hostname()}): what it is writing is not judged.\n`)
  await rm(run.at(`${sort}/stdout.log`))
  expect((await verifyRun(run)).report.faults.map(({ path }) => path)).toEqual([`${sort}/stdout.log`])
})

test('a socket that was left in an attempt is told, and nothing waits for it', async () => {
  const run = await makeRecordedRun()
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(run.at(`${play}/s`), resolve))
  const { report } = await verifyRun(run)
  server.close()
  expect(report.faults).toMatchObject([{ kind: 'leftover', path: `${play}/s`, message: `${play}/s is a socket, pipe or device, which is no evidence and is in no catalog; remove it.` }])
})
