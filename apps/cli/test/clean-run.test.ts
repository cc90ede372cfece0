import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { type CleanReport, cleanReportSchema, parseJsonDocument } from '@osworld-e2b/contracts'
import { readRun } from '@osworld-e2b/scheduler'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { CleanArguments } from '../src/clean/arguments.ts'
import { cleanSandboxes } from '../src/clean/run-sandboxes.ts'
import { clean } from '../src/commands/clean.ts'
import { UsageError } from '../src/usage-error.ts'
import { type LocalServer, startLocalServer } from './local-server.ts'
import { makeRecordedRun, type RecordedRun } from './recorded-run.ts'
import { digestFolder, startLivingProcess } from './stale-place.ts'

let server: LocalServer
beforeAll(async () => {
  server = await startLocalServer()
})
afterAll(() => server.close())

async function temporaryFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'clean-run-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

interface Cleaned {
  readonly report: CleanReport
  readonly code: number
}

async function cleanRun(run: RecordedRun, given: CleanArguments = {}, environment: NodeJS.ProcessEnv = {}): Promise<Cleaned> {
  const stdout = new PassThrough()
  const code = await clean({ run: run.runId, results: [run.results], data: server.dataFolder, json: true, ...given }, { environment: { TMPDIR: await temporaryFolder(), ...environment }, stdout })
  return { report: parseJsonDocument(cleanReportSchema, 'the report', String(stdout.read())), code }
}

const marksOf = (run: RecordedRun) => ({ workload: 'osworld-e2b', run: run.runId, run_uid: run.runUid })

/** Marked like those of the run but for its identity, as another run of the same name would. */
const marksOfOther = (run: RecordedRun) => ({ ...marksOf(run), run_uid: 'f'.repeat(32) })

test('the sandboxes of a run without an owner are killed and listed again, and no other run loses one', async () => {
  const run = await makeRecordedRun()
  const mine = (await Promise.all([server.create(marksOf(run)), server.create(marksOf(run))])).sort()
  const other = await server.create(marksOfOther(run))
  const { report, code } = await cleanRun(run)
  expect(report.run).toEqual({ run_id: 'one', route: 'local', found: 2, killed: 2, remaining: 0 })
  expect(report.removed.map(({ kind, name }) => [kind, name]).sort()).toEqual(mine.map((id) => ['sandbox', id]))
  expect(code).toBe(0)
  const left = await server.list()
  expect(left).toContain(other)
  expect(left.filter((id) => mine.includes(id))).toEqual([])
  expect((await cleanRun(run)).report.run).toMatchObject({ found: 0, killed: 0, remaining: 0 })
})

test('a dry run tells the sandboxes, and kills and changes nothing', async () => {
  const run = await makeRecordedRun()
  const id = await server.create(marksOf(run))
  const before = await digestFolder(run.results)
  const { report, code } = await cleanRun(run, { dryRun: true })
  expect(report).toMatchObject({ dry_run: true, removed: [{ kind: 'sandbox', name: id }], failed: [], run: { found: 1, killed: 0, remaining: 1 } })
  expect(code).toBe(0)
  expect(await server.list()).toContain(id)
  expect(await digestFolder(run.results)).toBe(before)
})

test('on another route it asks where the environment says, and the results stay as they are', async () => {
  const run = await makeRecordedRun({ route: 'e2b-compatible' })
  const id = await server.create(marksOf(run))
  await expect(cleanRun(run)).rejects.toThrow('The route e2b-compatible needs E2B_API_KEY in the environment; set it,')
  const before = await digestFolder(run.at('attempts'))
  const { report } = await cleanRun(run, { data: run.results }, { E2B_API_KEY: server.apiKey, E2B_API_URL: server.url, E2B_SANDBOX_URL: server.url })
  expect(report).toMatchObject({ removed: [{ name: id }], run: { route: 'e2b-compatible', found: 1, killed: 1, remaining: 0 } })
  expect(await server.list()).not.toContain(id)
  expect(await digestFolder(run.at('attempts'))).toBe(before)
  expect(existsSync(run.at('run.lock'))).toBe(false)
})

test.each([
  ['a living process', hostname()],
  ['a process of another machine', 'elsewhere'],
])('a run that %s holds is refused, and its sandboxes stay', async (_who, host) => {
  const run = await makeRecordedRun()
  const owner = await startLivingProcess()
  onTestFinished(owner.end)
  await writeFile(run.at('run.lock'), JSON.stringify({ schema_version: 1, host, pid: owner.pid, pid_start: owner.startTime, acquired_at: '2026-01-01T00:00:00.000Z' }))
  const id = await server.create(marksOf(run))
  await expect(cleanRun(run)).rejects.toThrow(
    new UsageError(`The run one belongs to process ${owner.pid} on ${host} since 2026-01-01T00:00:00.000Z, which cleans up after itself: stop that process first; if its machine is gone, remove ${run.at('run.lock')}.`),
  )
  expect(await server.list()).toContain(id)
})

test('the lock of an owner that is gone is no hindrance', async () => {
  const run = await makeRecordedRun()
  const owner = await startLivingProcess()
  await owner.end()
  await writeFile(run.at('run.lock'), JSON.stringify({ schema_version: 1, host: hostname(), pid: owner.pid, pid_start: owner.startTime, acquired_at: '2026-01-01T00:00:00.000Z' }))
  const id = await server.create(marksOf(run))
  expect((await cleanRun(run)).report.run).toMatchObject({ killed: 1 })
  expect(await server.list()).not.toContain(id)
})

test('without a local server none of its sandboxes can be left, and that is said', async () => {
  const run = await makeRecordedRun()
  const data = await temporaryFolder()
  const { report, code } = await cleanRun(run, { data })
  const note = `No local E2B server serves ${data}, and sandboxes end with their server: none can be left there. If the run used another data folder, name it with --data.`
  expect(report).toMatchObject({ removed: [], failed: [], run: { found: 0, killed: 0, remaining: 0, note } })
  expect(code).toBe(0)
})

test('for people the counts are a line of their own', async () => {
  const run = await makeRecordedRun()
  const id = await server.create(marksOf(run))
  const stdout = new PassThrough()
  expect(await clean({ run: run.folder, data: server.dataFolder }, { environment: { TMPDIR: await temporaryFolder() }, stdout })).toBe(0)
  expect(String(stdout.read()).trimEnd().split('\n')).toEqual([`removed             ?  sandbox ${id}: no process of its run one lives`, 'run one: 1 sandbox found, 1 killed, 0 remaining', 'total: freed 0 B in 1 thing'])
})

test("the temporary folders of the run's own coordinators go, those of others stay", async () => {
  const gone = await startLivingProcess()
  await gone.end()
  const run = await makeRecordedRun({ pid: gone.pid, host: hostname() })
  const parent = await temporaryFolder()
  const [mine, others, link] = [join(parent, `osworld-run-${gone.pid}-${gone.startTime}`), join(parent, `osworld-run-${process.pid}-1`), join(parent, `osworld-run-${gone.pid}-2`)]
  await mkdir(mine)
  await mkdir(others)
  await symlink(run.results, link)
  const { report } = await cleanRun(run, {}, { TMPDIR: parent })
  expect(report.removed).toEqual([{ kind: 'run_temporary_folder', name: mine, bytes: null, reason: `its process ${gone.pid} is gone` }])
  expect([existsSync(mine), existsSync(others), existsSync(link), existsSync(run.at('run.json'))]).toEqual([false, true, true, true])
})

test('a sandbox that the API goes on listing is told as remaining and as not removed', async () => {
  const run = await makeRecordedRun({ route: 'e2b-compatible' })
  const url = await stubbornApi(marksOf(run))
  const recorded = await readRun(run.folder)
  if (recorded === undefined) throw new Error('no run')
  const connection = { route: 'e2b-compatible' as const, api_key: server.apiKey, api_url: url, sandbox_url: url }
  expect(await cleanSandboxes(recorded, { connection }, { isDryRun: false, timings: { killDeadlineMs: 200, pollMs: 20 } })).toEqual({
    removed: [],
    failed: [{ kind: 'sandbox', name: 'istubborn', bytes: null, reason: 'no process of its run one lives', problem: 'the API still lists it' }],
    run: { run_id: 'one', route: 'e2b-compatible', found: 1, killed: 0, remaining: 1 },
  })
})

/** Takes every kill and lists its sandbox as before. */
async function stubbornApi(metadata: Record<string, string>): Promise<string> {
  const at = new Date().toISOString()
  const sandbox = { sandboxID: 'istubborn', templateID: 'base', clientID: 'x', state: 'running', metadata, startedAt: at, endAt: at, cpuCount: 1, memoryMB: 512, diskSizeMB: 1, envdVersion: '0.6.4' }
  const api = createServer(({ method }, response) => {
    if (method === 'DELETE') response.writeHead(204).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify([sandbox]))
  })
  api.listen(0, '127.0.0.1')
  await once(api, 'listening')
  onTestFinished(() => {
    api.close()
    api.closeAllConnections()
  })
  return `http://127.0.0.1:${(api.address() as AddressInfo).port}`
}

/** Of a port that was free a moment ago. */
async function addressOfNobody(): Promise<string> {
  const nobody = createServer().listen(0, '127.0.0.1')
  await once(nobody, 'listening')
  const { port } = nobody.address() as AddressInfo
  nobody.close()
  await once(nobody, 'close')
  return `http://127.0.0.1:${port}`
}

test('an API that cannot be reached is a sentence', async () => {
  const run = await makeRecordedRun({ route: 'e2b-compatible' })
  const url = await addressOfNobody()
  await expect(cleanRun(run, {}, { E2B_API_KEY: server.apiKey, E2B_API_URL: url, E2B_SANDBOX_URL: url })).rejects.toThrow(
    new UsageError("The sandboxes of the run one cannot be listed: no server answers at the API's address (ECONNREFUSED); mend that and give the command again."),
  )
})

test('a name that no run or two runs have is refused, and so is --all', async () => {
  const run = await makeRecordedRun()
  const twin = await makeRecordedRun()
  await expect(cleanRun(run, { run: 'two' })).rejects.toThrow(new UsageError(`--run: there is no run "two" in ${run.results}; give the name of a run with its --results, or the path of a run folder.`))
  await expect(cleanRun(run, { run: run.results })).rejects.toThrow(new UsageError(`--run: there is no run in ${run.results}; give the name of a run with its --results, or the path of a run folder.`))
  await expect(cleanRun(run, { results: [run.results, twin.results] })).rejects.toThrow(new UsageError(`--run: "one" is both ${run.folder} and ${twin.folder}; give the path of the one that you mean.`))
  await expect(cleanRun(run, { all: true })).rejects.toThrow(new UsageError('--all is for everything that is stale and --run for one run; give one of them.'))
})
