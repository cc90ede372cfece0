import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readAggregate, runToEnd, temporaryResults, workspaceRoot } from './osworld.ts'

/** Three of OSWorld's own tasks that need no network: terminal, browser with accessibility tree, drawing program. */
const feasible = ['os/e0df059f-28a6-4169-924f-b9623e7184cc', 'chrome/12086550-11c0-466b-b367-1d9e75b3910e', 'gimp/d52d6308-ec58-42b7-a2c9-de80e4837b2b']
const infeasible = 'os/b3d4a89c-53f2-4d6b-8b6a-541fb5d205fa'
const tasksFolder = process.env.OSWORLD_TASKS_DIR
const oracles = join(workspaceRoot, 'validation', 'oracles')

describe.skipIf(tasksFolder === undefined)("OSWorld's own tasks (OSWORLD_TASKS_DIR)", () => {
  let results: Awaited<ReturnType<typeof temporaryResults>>
  beforeAll(async () => {
    results = await temporaryResults()
  })
  afterAll(() => results.remove())

  const run = (tasks: readonly string[], args: readonly string[]) =>
    runToEnd(results.path, ['--tasks', tasksFolder ?? '', ...tasks.flatMap((task) => ['--task', task]), '--num-envs', '2', ...args])

  test('three feasible tasks are solved by their scripts', async () => {
    const { exitCode, output, runFolder } = await run(feasible, ['--scripts', oracles])
    expect(output).toContain('score 1.0000')
    expect(exitCode).toBe(0)
    expect(await readAggregate(runFolder)).toMatchObject({ complete: true, valid_tasks: 3, reward_sum: 3 })
  })

  test('the same tasks score 0 when nothing is done', async () => {
    const { runFolder } = await run(feasible, ['--agent', 'none'])
    expect(await readAggregate(runFolder)).toMatchObject({ complete: true, valid_tasks: 3, reward_sum: 0 })
  })

  test.each([
    ['FAIL', 1],
    ['DONE', 0],
  ])('an infeasible task answered with %s scores %i', async (answer, reward) => {
    const scripts = await mkdtemp(join(tmpdir(), 'osworld-scripts-'))
    try {
      const [domain = '', id = ''] = infeasible.split('/')
      await mkdir(join(scripts, domain))
      await writeFile(join(scripts, domain, `${id}.json`), JSON.stringify({ schema_version: 1, task: { domain, id }, actions: [answer] }))
      const { runFolder } = await run([infeasible], ['--scripts', scripts])
      expect(await readAggregate(runFolder)).toMatchObject({ complete: true, valid_tasks: 1, reward_sum: reward })
    } finally {
      await rm(scripts, { recursive: true })
    }
  })
})
