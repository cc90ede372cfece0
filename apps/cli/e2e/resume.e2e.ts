import { spawnSync } from 'node:child_process'
import { mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, readAggregate, readLedger, readRewards, runToEnd, startRun, temporaryResults } from './osworld.ts'
import { beforeRun } from './residue.ts'

const tasks = ['--suite', 'starter', '--task', 'os/add-bread', '--task', 'os/measure-room', '--num-envs', '1', '--no-record']
let results: Awaited<ReturnType<typeof temporaryResults>>
beforeAll(async () => {
  results = await temporaryResults()
})
afterAll(() => results.remove())

const ended = async (runFolder: string) => (await readLedger(runFolder)).filter(({ event }) => event === 'TERMINAL').length

test('a run killed between its attempts gives, resumed, every task its reward once', async () => {
  const run = startRun(results.path, [...tasks, '--verbose'])
  await eventually(() => `one attempt ended and another acts; output so far:\n${run.output()}`, 120_000, async () =>
    (await ended(run.runFolder)) === 1 && /measure-room-temperature: setup/.test(run.output()) ? true : undefined,
  )
  run.child.kill('SIGKILL')
  await run.ended
  const resumed = await runToEnd(results.path, ['--run-id', run.runFolder.split('/').at(-1) ?? ''])
  expect(resumed.exitCode).toBe(0)
  expect(await readRewards(run.runFolder)).toEqual({ 'os/add-bread-to-shopping-list': 1, 'os/measure-room-temperature': 1 })
  const planned = (await readLedger(run.runFolder)).filter(({ event }) => event === 'PLANNED')
  expect(planned.map((event) => ('task_id' in event ? `${event.task_id} ${event.attempt}` : ''))).toEqual(['add-bread-to-shopping-list 1', 'measure-room-temperature 1', 'measure-room-temperature 2'])
})

const isRoot = process.getuid?.() === 0

test.skipIf(!isRoot)('a disk that fills up in the middle of a run pauses it; with space again it goes on by itself (mounting a small disk needs root)', async () => {
  const residue = await beforeRun()
  const disk = join(results.path, 'disk')
  await mkdir(disk)
  mustRun('mount', ['-t', 'tmpfs', '-o', 'size=300m', 'none', disk])
  try {
    const run = startRun(disk, [...tasks, '--verbose'])
    await eventually(() => `the agent acts; output so far:\n${run.output()}`, 120_000, () => Promise.resolve(run.output().includes('add-bread-to-shopping-list: agent\n') ? true : undefined))
    const ballast = join(disk, 'ballast')
    spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=64k'], { stdio: 'ignore' })
    expect((await stat(ballast)).size).toBeGreaterThan(200 * 2 ** 20)
    await eventually(() => `the run pauses; output so far:\n${run.output()}`, 120_000, () => Promise.resolve(/paused.*disk/.test(run.output()) ? true : undefined))
    await rm(ballast)
    const { exitCode } = await run.ended
    expect(exitCode).toBe(0)
    expect(await readAggregate(run.runFolder)).toMatchObject({ complete: true, score_declared: 1 })
    expect(await readLedger(run.runFolder)).toContainEqual(expect.objectContaining({ event: 'RUN_PAUSED', reason: 'disk_full' }))
  } finally {
    mustRun('umount', ['--lazy', disk])
  }
  await residue.expectNone()
})

function mustRun(program: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${stderr}`)
}
