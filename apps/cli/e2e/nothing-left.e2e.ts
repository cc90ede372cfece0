import { readFile, readdir } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, readAggregate, readLedger, type RunningOsworld, runToEnd, startRun, temporaryResults } from './osworld.ts'
import { beforeRun } from './residue.ts'

const task = ['--suite', 'starter', '--task', 'os/add-bread-to-shopping-list', '--max-attempts', '1', '--verbose', '--no-record']
let results: Awaited<ReturnType<typeof temporaryResults>>
beforeAll(async () => {
  results = await temporaryResults()
})
afterAll(() => results.remove())

/** Waits until the attempt is in mid-task: its sandbox, its processes and its listeners all exist. */
function untilAgentActs(run: RunningOsworld): Promise<true> {
  return eventually(() => `the agent acts; output so far:\n${run.output()}`, 120_000, () =>
    Promise.resolve(run.output().includes(': agent\n') ? true : undefined),
  )
}

/** Pids of the run's children whose command line matches. */
async function childrenOf(parent: number, pattern: RegExp): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      const isChild = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] === String(parent)
      return isChild && pattern.test(command) ? [Number(pid)] : []
    }),
  )
  return found.flat()
}

test('after a normal end nothing is left', async () => {
  const residue = await beforeRun()
  const { exitCode } = await runToEnd(results.path, task)
  expect(exitCode).toBe(0)
  await residue.expectNone()
})

/** Starts the run again by its name alone: it goes on with the settings it has. */
async function expectResumed(run: RunningOsworld): Promise<void> {
  const resumed = await runToEnd(results.path, ['--run-id', run.runFolder.split('/').at(-1) ?? ''])
  expect(resumed.exitCode).toBe(0)
  expect(await readAggregate(run.runFolder)).toMatchObject({ complete: true, score_declared: 1, invalid_by_reason: { interrupted: 1 } })
}

test.each([
  ['Ctrl-C', ['SIGINT'], 130],
  ['SIGTERM', ['SIGTERM'], 130],
  ['two Ctrl-C, of which the second forces', ['SIGINT', 'SIGINT'], 130],
  ['kill -9 of the coordinator', ['SIGKILL'], null],
] as const)('after %s nothing is left, and the run resumes to its score', async (_name, signals, exitCode) => {
  const residue = await beforeRun()
  const run = startRun(results.path, task)
  await untilAgentActs(run)
  run.child.kill(signals[0])
  if (signals.length > 1) {
    await eventually(() => 'the first signal is answered', 5_000, () => Promise.resolve(run.output().includes('once more forces it') ? true : undefined))
    run.child.kill(signals[1])
  }
  expect((await run.ended).exitCode).toBe(exitCode)
  await residue.expectNone()
  await expectResumed(run)
})

test.each([
  ['relay-bin', /relay-bin/, 'relay_failed'],
  ['the attempt', /bwrap/, 'runner_exit'],
])('after kill -9 of %s nothing is left, and the attempt has no score', async (_name, pattern, reason) => {
  const residue = await beforeRun()
  const run = startRun(results.path, task)
  await untilAgentActs(run)
  const [victim] = await childrenOf(run.child.pid ?? 0, pattern)
  expect(victim).toBeDefined()
  process.kill(victim ?? 0, 'SIGKILL')
  expect((await run.ended).exitCode).toBe(1)
  await residue.expectNone()
  const end = (await readLedger(run.runFolder)).find((event) => event.event === 'TERMINAL')
  expect(end?.outcome).toMatchObject({ kind: 'invalid', reason })
  expect(await readAggregate(run.runFolder)).toMatchObject({ valid_tasks: 0, score_valid: null })
})
