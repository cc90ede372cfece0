import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { acquireRunLock, readRunTemporaryFolders, readRunTraces } from './index.ts'
import { processStart } from './process-identity.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stale-runs-test-'))
  await mkdir(join(folder, 'one'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const lockFile = () => join(folder, 'one', 'run.lock')

test('a run whose lock a living process holds is held by it, and free once that process is gone', async () => {
  const owner = spawn('sleep', ['1000'])
  onTestFinished(() => void owner.kill('SIGKILL'))
  await once(owner, 'spawn')
  const pid = Number(owner.pid)
  await acquireRunLock(lockFile(), { pid, now: new Date() })
  expect(await readRunTraces(folder)).toMatchObject([{ runId: 'one', lock: { kind: 'held', pid } }])
  owner.kill('SIGKILL')
  await once(owner, 'exit')
  expect(await readRunTraces(folder)).toMatchObject([{ lock: { kind: 'free' } }])
})

test.each([
  ['of another host', JSON.stringify({ schema_version: 1, host: `not-${hostname()}`, pid: 1, pid_start: '1', acquired_at: '2026-01-01T00:00:00.000Z' })],
  ['that cannot be read', '{"schema_version": 9}'],
])('a lock %s counts as held, since nobody here can tell', async (_what, text) => {
  await writeFile(lockFile(), text)
  expect(await readRunTraces(folder)).toMatchObject([{ lock: { kind: 'held' } }])
})

test('a folder without documents of ours tells nothing, and neither links nor an absent folder are runs', async () => {
  await symlink(join(folder, 'one'), join(folder, 'two'))
  await writeFile(join(folder, 'file'), '')
  await writeFile(join(folder, 'one', 'run.json'), '{"schema_version": 9}')
  expect(await readRunTraces(folder)).toEqual([
    { folder: join(folder, 'one'), runId: 'one', runUid: undefined, template: undefined, isComplete: false, lock: { kind: 'free' } },
  ])
  expect(await readRunTraces(join(folder, 'absent'))).toEqual([])
})

test("tells the temporary folder of a living run from a dead one's, and neither links, nor others' folders, are a run's", async () => {
  const uid = process.getuid?.() ?? 0
  const living = `osworld-run-${process.pid}-${(await processStart(process.pid)) ?? ''}`
  const dead = `osworld-run-${process.pid}-1`
  for (const name of [living, dead, 'osworld-run-1', 'else']) await mkdir(join(folder, name))
  await symlink(join(folder, 'else'), join(folder, 'osworld-run-2-2'))
  const found = await readRunTemporaryFolders(folder, uid)
  expect(found).toHaveLength(2)
  expect(found).toContainEqual({ path: join(folder, living), pid: process.pid, isOwnerAlive: true })
  expect(found).toContainEqual({ path: join(folder, dead), pid: process.pid, isOwnerAlive: false })
  expect(await readRunTemporaryFolders(folder, uid + 1)).toEqual([])
  expect(await readdir(folder)).toHaveLength(6)
})
