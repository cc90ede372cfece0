import { readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { catalogSchema, suiteSchema } from '@osworld-e2b/contracts'
import { sha256File } from '@osworld-e2b/inventory'
import { readAggregate, readLedger, readRewards, runToEnd, temporaryResults, workspaceRoot } from './osworld.ts'

let results: Awaited<ReturnType<typeof temporaryResults>>
beforeAll(async () => {
  results = await temporaryResults()
})
afterAll(() => results.remove())

const tasks = suiteSchema.parse(JSON.parse(readFileSync(join(workspaceRoot, 'validation/starter/suite.json'), 'utf8'))).tasks

/** The whole suite is solved by `npm start`, which the test of the README's commands runs. */
const solved = ['os/add-bread-to-shopping-list', 'vlc/lock-vlc-with-a-pin']
const only = (names: readonly string[]) => names.flatMap((name) => ['--task', name])

test('two of the starter suite score 1 with their scripts, and leave evidence that can be checked', async () => {
  const { exitCode, output, runFolder } = await runToEnd(results.path, ['--suite', 'starter', '--num-envs', '2', ...only(solved)])
  expect(output).toContain(`score 1.0000 over ${solved.length} planned tasks, coverage 1.0000`)
  expect(output).toContain(runFolder)
  expect(await readRewards(runFolder)).toEqual(Object.fromEntries(solved.map((name) => [name, 1])))
  expect(exitCode).toBe(0)
  expect(await readAggregate(runFolder)).toMatchObject({ complete: true, valid_tasks: solved.length, reward_sum: solved.length, score_declared: 1 })
  await expectEvidence(runFolder)
})

async function expectEvidence(runFolder: string): Promise<void> {
  const ends = (await readLedger(runFolder)).filter((event) => event.event === 'TERMINAL')
  const folder = join(runFolder, 'attempts/os/add-bread-to-shopping-list/1.1')
  const end = ends.find((event) => event.task_id === 'add-bread-to-shopping-list')
  expect(end?.catalog_sha256).toBe(await sha256File(join(folder, 'artifacts.json')))
  const { artifacts } = catalogSchema.parse(JSON.parse(await readFile(join(folder, 'artifacts.json'), 'utf8')))
  for (const { path, sha256 } of artifacts) expect(await sha256File(join(folder, path))).toBe(sha256)
  const names = artifacts.map(({ path }) => path)
  expect(names).toEqual(expect.arrayContaining(['attempt.json', 'evaluator.json', 'recording.mp4', 'relay-events.jsonl', 'result.txt', 'stdout.log', 'traj.jsonl', 'upstream.log']))
  const steps = (await readFile(join(folder, 'traj.jsonl'), 'utf8')).trim().split('\n')
  const ofSteps = steps.flatMap((_, index) => [`step_${index + 1}_before.png`, `step_${index + 1}_after.png`])
  expect((await readdir(join(folder, 'screenshots'))).sort()).toEqual(['evaluated.png', 'reset.png', ...ofSteps].sort())
  expect((await readFile(join(folder, 'result.txt'), 'utf8')).trim()).toMatch(/^1(\.0)?$/)
}

/** Every second one; the proof runs them all so. */
const undone = tasks.filter((_, index) => index % 2 === 0).map(({ domain, id }) => `${domain}/${id}`)

test('half of the starter suite scores 0 with an agent that does nothing, as a complete run', async () => {
  const { exitCode, runFolder } = await runToEnd(results.path, ['--suite', 'starter', '--num-envs', '2', '--agent', 'none', '--no-record', ...only(undone)])
  expect(await readRewards(runFolder)).toEqual(Object.fromEntries(undone.map((task) => [task, 0])))
  expect(exitCode).toBe(0)
  expect(await readAggregate(runFolder)).toMatchObject({ complete: true, valid_tasks: undone.length, reward_sum: 0, score_declared: 0 })
})

/** One of each kind of ending; `npm run prove starter-ten` runs the whole suite so. */
const missed = ['os/measure-room-temperature', 'os/find-parcel-in-terminal', 'chrome/keep-apple-pie-tab', 'libreoffice_calc/sum-up-trip-costs', 'vlc/save-snapshots-as-jpg']

test('five of its tasks score 0 with scripts that end wrong, as a complete run', async () => {
  const { exitCode, runFolder } = await runToEnd(results.path, ['--suite', 'starter', '--num-envs', '2', '--scripts', 'miss', '--no-record', ...only(missed)])
  expect(await readRewards(runFolder)).toEqual(Object.fromEntries(missed.map((task) => [task, 0])))
  expect(exitCode).toBe(0)
})
