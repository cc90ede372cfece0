import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LedgerEvent } from '@osworld-e2b/contracts'
import { expect, test } from 'vitest'
import { foldTasks, readRunFolder } from './read-run-folder.ts'

const key = { domain: 'os', task_id: 'bread', trial: 1, timestamp: '2026-03-04T05:06:07.000Z' }
const planned: LedgerEvent = { event: 'PLANNED', ...key, attempt: 1, attempt_dir: 'attempts/os/bread/1.1' }
const end = (attempt: number, outcome: Extract<LedgerEvent, { event: 'TERMINAL' }>['outcome']): LedgerEvent => ({
  event: 'TERMINAL',
  ...key,
  attempt,
  outcome,
  cleanup: 'success',
  seconds: 2.5,
  steps: 3,
})

test('a retried task has the reward of its last attempt, the reasons before it, and the time of both', () => {
  const lost = end(1, { kind: 'invalid', reason: 'guest_lost', message: 'gone' })
  expect(foldTasks([planned, lost, { ...planned, attempt: 2 }, end(2, { kind: 'valid', reward: 1 })])).toEqual([
    { task: { domain: 'os', id: 'bread' }, reward: 1, invalid: ['guest_lost'], seconds: 5, steps: 6 },
  ])
})

test('a task that was begun and never ended has no reward', () => {
  expect(foldTasks([planned])).toMatchObject([{ reward: null, invalid: [], seconds: 0 }])
})

test('a folder without a readable result gives no tasks, and says why', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'osworld-prove-'))
  try {
    const said: string[] = []
    const nothing = { labels: [], planned_tasks: null, tasks: [] }
    expect(await readRunFolder(folder, (sentence) => said.push(sentence))).toEqual(nothing)
    await writeFile(join(folder, 'aggregate.json'), '{')
    expect(await readRunFolder(folder, (sentence) => said.push(sentence))).toEqual(nothing)
    expect(said).toEqual([expect.stringContaining('no such file'), expect.stringContaining('aggregate.json is not valid: it is not JSON')])
  } finally {
    await rm(folder, { recursive: true })
  }
})
