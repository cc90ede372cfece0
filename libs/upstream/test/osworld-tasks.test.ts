import { describe, expect, it } from 'vitest'
import { loadTasks } from '../src/index.ts'

const tasksDir = process.env['OSWORLD_TASKS_DIR'] ?? ''
const needsTasks = tasksDir === '' ? ' (skipped: OSWORLD_TASKS_DIR names no folder of OSWorld tasks)' : ''

describe.skipIf(tasksDir === '')(`OSWorld's own tasks${needsTasks}`, () => {
  it('load all, in the order of the manifest', async () => {
    const { source, tasks } = await loadTasks({ tasksDir })
    expect(source).toMatchObject({ kind: 'osworld', name: 'test_all' })
    expect(tasks).toHaveLength(369)
    expect(tasks[0]?.key).toEqual({ domain: 'chrome', id: 'bb5e4c0d-f964-439c-97b6-bdb9747de3f4' })
    expect(tasks.filter(({ proxy }) => proxy)).toHaveLength(56)
  })

  it('are found by the first eight characters of any id', async () => {
    const { tasks } = await loadTasks({ tasksDir })
    const selection = tasks.map(({ key }) => `${key.domain}/${key.id.slice(0, 8)}`)
    expect((await loadTasks({ tasksDir, selection })).tasks).toHaveLength(tasks.length)
  })
})
