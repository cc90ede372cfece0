import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, main, readAggregate, readLedger, readRewards, runToEnd, startRun, temporaryResults } from './osworld.ts'
import { beforeRun } from './residue.ts'

const names = ['os/add-bread-to-shopping-list', 'os/measure-room-temperature', 'os/find-parcel-in-terminal']
const tasks = ['--suite', 'starter', ...names.flatMap((name) => ['--task', name]), '--num-envs', '2', '--max-attempts', '1']
let results: Awaited<ReturnType<typeof temporaryResults>>
beforeAll(async () => {
  results = await temporaryResults()
})
afterAll(() => results.remove())

test('Ctrl-C with --on-interrupt drain lets both running attempts finish and starts nothing more; resumed, the run is complete and can be verified', async () => {
  const residue = await beforeRun()
  const run = startRun(results.path, [...tasks, '--on-interrupt', 'drain', '--verbose'])
  await eventually(() => `two attempts run; output so far:\n${run.output()}`, 120_000, () => Promise.resolve((run.output().match(/: setup\n/g) ?? []).length === 2 ? true : undefined))
  run.child.kill('SIGINT')
  const { exitCode, output } = await run.ended
  expect(output).toContain('SIGINT: running attempts finish and nothing more is started; once more ends them.\n')
  expect(exitCode).toBe(130)
  await residue.expectNone()
  expect(await readAggregate(run.runFolder)).toMatchObject({ complete: false, planned_attempts: 2, valid_tasks: 2, reward_sum: 2, invalid_by_reason: {}, not_run: { drained: 1 } })
  const drained = await readLedger(run.runFolder)
  expect(drained.at(-1)).toMatchObject({ event: 'RUN_ENDED', reason: 'drained', not_run: { drained: 1 } })

  const resumed = await runToEnd(results.path, ['--run-id', run.runFolder.split('/').at(-1) ?? ''])
  expect(resumed.exitCode).toBe(0)
  expect((await readLedger(run.runFolder)).slice(0, drained.length)).toEqual(drained)
  expect(await readRewards(run.runFolder)).toEqual(Object.fromEntries(names.map((name) => [name, 1])))
  expect(await readAggregate(run.runFolder)).toMatchObject({ complete: true, planned_attempts: 3, score_declared: 1 })
  await residue.expectNone()
  const verified = spawnSync(process.execPath, [main, 'verify', run.runFolder], { encoding: 'utf8' })
  expect([verified.status, verified.stdout]).toEqual([0, expect.any(String)])
})
