import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { isInfeasible, osworldTasks, readScripts } from './osworld-tasks.ts'

const checkout = fileURLToPath(new URL('../../..', import.meta.url))

test('ten feasible tasks in at least five domains and four infeasible ones have a script under their own name', async () => {
  const scripts = await readScripts(join(checkout, 'validation', 'oracles'))
  const feasible = scripts.filter((script) => !isInfeasible(script))
  expect(feasible).toHaveLength(10)
  expect(new Set(feasible.map(({ task }) => task.domain)).size).toBeGreaterThanOrEqual(5)
  expect(scripts.filter(isInfeasible)).toHaveLength(4)
})

test('without the task files the proof says what it needs', async () => {
  const plan = osworldTasks.plan({ checkout, results: '/nowhere', environment: {}, atEnd: () => undefined })
  await expect(plan).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('OSWORLD_TASKS_DIR') as string })
})

test('the infeasible tasks, and no others, are also called done', async () => {
  const results = await mkdtemp(join(tmpdir(), 'osworld-prove-'))
  try {
    const plans = await osworldTasks.plan({ checkout, results, environment: { OSWORLD_TASKS_DIR: '/tasks' }, atEnd: () => undefined })
    expect(plans.map(({ name, expectedReward, args }) => [name, expectedReward, args.filter((argument) => argument === '--task').length])).toEqual([
      ['oracle', 1, 14],
      ['none', 0, 14],
      ['infeasible called done', 0, 4],
    ])
    const written = await readScripts(join(results, 'answered-done'))
    expect(written.map(({ actions }) => actions)).toEqual(Array.from({ length: 4 }, () => ['DONE']))
    expect(plans[0]?.args.slice(0, 2)).toEqual(['--tasks', '/tasks'])
    expect(JSON.parse(await readFile(join(results, 'answered-done', 'os', 'b3d4a89c-53f2-4d6b-8b6a-541fb5d205fa.json'), 'utf8'))).toMatchObject({ task: { domain: 'os' } })
  } finally {
    await rm(results, { recursive: true })
  }
})
