import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { loadProfiles } from '@osworld-e2b/inventory'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { workspace } from '../src/workspace.ts'
import { cleanPlace, digestFolder, makeStalePlace, namesOf, oldTemplate, type StalePlace, startLivingProcess } from './stale-place.ts'

let place: StalePlace
beforeEach(async () => {
  place = await makeStalePlace()
})
afterEach(() => place.remove())

const oldEnvironment = `python_environment python/${'a'.repeat(64)}`
const inDataFolder = [
  'half_made local-e2b/bases/ff.partial',
  `half_made local-e2b/uploads/${'0'.repeat(64)}.x.tmp`,
  'layer local-e2b/layers/ee',
  'sandbox_folder local-e2b/sandboxes/dead',
  `template ${oldTemplate}`,
]
const deadRunFolder = `run_temporary_folder tmp/osworld-run-${process.pid}-1`
const stale = [...inDataFolder, oldEnvironment, deadRunFolder, 'scratch_folder tmp/local-e2b-bundle-abcdef'].sort()
const young = 'scratch_folder tmp/local-e2b-bundle-ABCDEF'

async function living() {
  const process = await startLivingProcess()
  onTestFinished(process.end)
  return process
}

test('a dry run names everything stale with its size, and changes nothing', async () => {
  const before = await digestFolder(place.root)
  const { report, code } = await cleanPlace(place, { dryRun: true })
  expect(namesOf(report.removed, place)).toEqual(stale)
  expect(namesOf(report.kept, place)).toEqual([young])
  expect(report.removed.every(({ bytes }) => bytes !== null)).toBe(true)
  expect(report.removed_bytes).toBeGreaterThan(0)
  expect(code).toBe(0)
  expect(await digestFolder(place.root)).toBe(before)
})

test('cleaning removes just that, follows no link out of it, and gives the data folder back', async () => {
  const { report, code } = await cleanPlace(place)
  expect(namesOf(report.removed, place)).toEqual(stale)
  expect(report.failed).toEqual([])
  expect(code).toBe(0)
  expect((await readdir(join(place.dataFolder, 'layers'))).sort()).toEqual(['aa', 'aa.json', 'dd', 'dd.json'])
  expect(await readdir(join(place.dataFolder, 'bases'))).toEqual(['cc'])
  expect(await readdir(join(place.dataFolder, 'sandboxes'))).toEqual([])
  expect((await readdir(place.dataFolder)).sort()).toEqual(['bases', 'layers', 'sandboxes', 'templates.json', 'uploads'])
  expect(await readFile(join(place.dataFolder, 'templates.json'), 'utf8')).not.toContain(oldTemplate)
  expect((await readdir(place.temporaryFolder)).sort()).toEqual(['local-e2b-bundle-ABCDEF', 'somebody-elses'])
  expect(await readFile(join(place.precious, 'file'), 'utf8')).toBe('keep me')
  expect((await cleanPlace(place)).report.removed).toEqual([])
})

test('a data folder that a living process holds is left as it is, even with --all, and that process is named', async () => {
  const holder = await living()
  await writeFile(join(place.dataFolder, 'server.lock'), `${JSON.stringify({ pid: holder.pid, pid_start: holder.startTime })}\n`)
  const { report } = await cleanPlace(place, { all: true })
  expect(namesOf(report.removed, place).filter((name) => inDataFolder.includes(name))).toEqual([])
  expect(namesOf(report.kept, place)).toEqual([...inDataFolder, young].sort())
  expect(report.kept.find(({ kind }) => kind === 'template')?.reason).toContain(`process ${holder.pid}`)
  expect(existsSync(join(place.dataFolder, 'layers', 'bb', 'file'))).toBe(true)
  expect(existsSync(join(place.dataFolder, 'server.lock'))).toBe(true)
  await holder.end()
  expect(namesOf((await cleanPlace(place)).report.removed, place)).toEqual(inDataFolder)
})

test('while the coordinator of a run lives, its folder and the Python environments stay', async () => {
  const coordinator = await living()
  const folder = `osworld-run-${coordinator.pid}-${coordinator.startTime}`
  await mkdir(join(place.temporaryFolder, folder))
  const { report } = await cleanPlace(place, { all: true })
  expect(namesOf(report.kept, place)).toEqual([oldEnvironment, `run_temporary_folder tmp/${folder}`, young].sort())
  expect(existsSync(join(place.temporaryFolder, folder))).toBe(true)
})

test('a run whose lock a living process holds keeps the Python environments too', async () => {
  const owner = await living()
  const lock = { schema_version: 1, host: hostname(), pid: owner.pid, pid_start: owner.startTime, acquired_at: '2026-01-01T00:00:00.000Z' }
  await mkdir(join(place.results, 'one'))
  await writeFile(join(place.results, 'one', 'run.lock'), JSON.stringify(lock))
  expect(namesOf((await cleanPlace(place)).report.kept, place)).toContain(oldEnvironment)
  await owner.end()
  expect(namesOf((await cleanPlace(place)).report.removed, place)).toEqual([oldEnvironment])
  expect(await readdir(join(place.results, 'one'))).toEqual(['run.lock'])
})

test('folders that are reached through a link are left alone', async () => {
  await rename(join(place.dataFolder, 'layers'), join(place.precious, 'layers'))
  await symlink(join(place.precious, 'layers'), join(place.dataFolder, 'layers'))
  await symlink(place.precious, join(place.temporaryFolder, `osworld-run-${process.pid}-2`))
  const { report } = await cleanPlace(place)
  expect(report.failed).toEqual([])
  expect(await readdir(join(place.precious, 'layers'))).toHaveLength(8)
  expect(existsSync(join(place.precious, 'file'))).toBe(true)
})

test('what cannot be removed is told with its reason, the rest is removed all the same, and the exit code is 1', async () => {
  await symlink(join(place.dataFolder, 'layers', 'aa'), join(place.dataFolder, 'layers', 'bb.partial'))
  const { report, code } = await cleanPlace(place)
  expect(report.failed).toMatchObject([{ name: oldTemplate, problem: expect.stringContaining('bb.partial') as string }])
  expect(namesOf(report.removed, place)).toEqual(stale.filter((name) => !name.endsWith(oldTemplate)))
  expect(code).toBe(1)
  expect(existsSync(join(place.dataFolder, 'layers', 'aa', 'file'))).toBe(true)
})

test('checkouts of profiles stay and are told, those of no profile go with --all, and their lock files with them', async () => {
  const { profiles } = await loadProfiles(workspace.profilesFile)
  const [name, pinned] = Object.entries(profiles)[0] ?? []
  const sources = join(place.environment.XDG_CACHE_HOME ?? '', 'osworld-e2b', 'osworld-source')
  const [known, unknown] = [pinned?.commit ?? '', 'c'.repeat(40)]
  for (const commit of [known, unknown]) await mkdir(join(sources, commit, 'desktop_env'), { recursive: true })
  for (const file of [`${unknown}.lock`, 'notes']) await writeFile(join(sources, file), '')
  const kept = (await cleanPlace(place)).report.kept.filter(({ kind }) => kind === 'checkout')
  expect(kept.map(({ reason }) => reason).sort()).toEqual(['no profile of this osworld is made of it, but one of your own may be; give --all', `the profile ${name ?? ''} is made of it`])
  const { report } = await cleanPlace(place, { all: true })
  expect(report.removed).toMatchObject([{ kind: 'checkout', name: join(sources, unknown), reason: 'no profile of this osworld is made of it' }])
  expect((await readdir(sources)).sort()).toEqual([known, 'notes'].sort())
})

test('without anything there is nothing to remove and nothing is made', async () => {
  const data = join(place.root, 'absent')
  const { report } = await cleanPlace({ ...place, environment: { ...place.environment, XDG_CACHE_HOME: data } }, { data, results: [data] })
  expect(namesOf(report.removed, place)).toEqual([deadRunFolder, 'scratch_folder tmp/local-e2b-bundle-abcdef'])
  expect(existsSync(data)).toBe(false)
})
