import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { catalogArtifacts, type CatalogFinding, compareCatalog } from './index.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'compare-catalog-'))
  await mkdir(join(folder, 'screenshots'))
  // More than are read at a time.
  for (let step = 1; step <= 9; step++) await writeFile(join(folder, 'screenshots', `step_${step}.png`), `picture ${step}`)
  await writeFile(join(folder, 'stdout.log'), 'noise')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function findings(entries: Parameters<typeof compareCatalog>[1]): Promise<readonly CatalogFinding[]> {
  const found: CatalogFinding[] = []
  for await (const finding of compareCatalog(folder, entries)) found.push(finding)
  return found
}

const notSame = (found: readonly CatalogFinding[]) => found.filter(({ kind }) => kind !== 'same')

test('a folder that is as its catalog says is the same throughout, in the order of its paths, but for the catalog itself', async () => {
  const entries = await catalogArtifacts(folder)
  await writeFile(join(folder, 'artifacts.json'), '{}')
  const found = await findings(entries)
  expect(found).toEqual(entries.map(({ path, bytes }) => ({ kind: 'same', path, bytes })))
  expect(found).toHaveLength(10)
})

test('what was changed, added and taken away is told, each by its path', async () => {
  const entries = await catalogArtifacts(folder)
  await writeFile(join(folder, 'screenshots', 'step_3.png'), 'picture 4')
  await writeFile(join(folder, 'stdout.log'), 'noise and more')
  await writeFile(join(folder, 'added'), '')
  await rm(join(folder, 'screenshots', 'step_5.png'))
  expect(notSame(await findings(entries))).toMatchObject([
    { kind: 'uncatalogued', path: 'added' },
    { kind: 'changed', path: 'screenshots/step_3.png', bytes: 9, entry: { bytes: 9 } },
    { kind: 'changed', path: 'stdout.log', bytes: 14, entry: { bytes: 5 } },
    { kind: 'missing', path: 'screenshots/step_5.png' },
  ])
})

test('a link is no file, even to what the catalog has, and a socket is not waited for', async () => {
  const entries = await catalogArtifacts(folder)
  await rm(join(folder, 'stdout.log'))
  await symlink(join(folder, 'screenshots', 'step_1.png'), join(folder, 'stdout.log'))
  await symlink('/', join(folder, 'root'))
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(join(folder, 'socket'), resolve))
  const found = notSame(await findings(entries))
  server.close()
  expect(found).toEqual([
    { kind: 'no_file', path: 'root', is: 'symbolic_link' },
    { kind: 'no_file', path: 'socket', is: 'other' },
    { kind: 'no_file', path: 'stdout.log', is: 'symbolic_link' },
  ])
})

test('without a catalog every file is uncatalogued, what is named like one too', async () => {
  await writeFile(join(folder, 'artifacts.json'), '{}')
  const found = await findings(undefined)
  expect(found).toHaveLength(11)
  expect(found.every(({ kind }) => kind === 'uncatalogued')).toBe(true)
})

test.skipIf(process.getuid?.() === 0)('a file that may not be read is told with the reason', async () => {
  const entries = await catalogArtifacts(folder)
  await chmod(join(folder, 'stdout.log'), 0)
  expect(notSame(await findings(entries))).toMatchObject([{ kind: 'unreadable', path: 'stdout.log', problem: expect.stringContaining('EACCES') as string }])
})
