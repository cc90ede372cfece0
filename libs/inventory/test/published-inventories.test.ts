import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { canonicalJson, sha256File, sha256Hex } from '../src/index.ts'

const commit = 'fc31a9049664292fcb35d6e501ee1dc839f2cf6d'
const evaluatorTree = '5de1b59c6ce7fab8fc78dde223a4574ac2ce084bc6599459a024ce6d1bad7465'

/** Google Drive tasks of the pinned source: id, digest of the task file, proxy flag. */
const driveTasks: readonly (readonly [string, string, boolean])[] = [
  ['46407397-a7d5-4c6b-92c6-dbe038b1457b', 'ee66690f64c167267fffd5948a665ac87934c7fed5e83cfb659e971eedbc766c', true],
  ['4e9f0faf-2ecc-4ae8-a804-28c9a75d1ddc', '15be01d3fbb9f2660d36466f0eb3f88589a1cf687fb9281eaf0d61c8c7a611ff', true],
  ['78aed49a-a710-4321-a793-b611a7c5b56b', '5329a340d74196cab63c9f59840950d06cb9b3a2be11afd2a22b3198c7806c2b', true],
  ['897e3b53-5d4d-444b-85cb-2cdc8a97d903', 'badad00d2b6d7942ec415d35783a3792f8a5446ad85577161fbe0cefd53502eb', true],
  ['a0b9dc9c-fc07-4a88-8c5d-5e3ecad91bcb', 'e02d7d493810ceaeb8b412776c66e29c6b1752bd8f9a9bf05c5a66a680feb049', true],
  ['b52b40a5-ad70-4c53-b5b0-5650a8387052', '517fa5115887a8e4419e65bb2b3d418d1de1fdbfb44c13bb00046f9d57c14cb7', true],
  ['0c825995-5b70-4526-b663-113f4c999dd2', '2000667ae17954a764b61d2ac19e1f77d7c1347114125494753ef0a35a7f6a77', false],
  ['22a4636f-8179-4357-8e87-d1743ece1f81', '95bf58b856e1f8e28a124a9ab60ba1bb6f369a626694f2dbca5421b8e02e6637', true],
]

interface InventoryTask {
  readonly domain: string
  readonly id: string
  readonly task_sha256: string
  readonly proxy: boolean
}

function inventory(suite: string, tasks: readonly InventoryTask[]): unknown {
  const repository = 'https://github.com/xlang-ai/OSWorld.git'
  const head = { schema_version: 1, profile: 'current-v1', repository, commit, suite }
  return { ...head, task_count: tasks.length, evaluator_tree_sha256: evaluatorTree, tasks }
}

describe('a published inventory', () => {
  it('of the Google Drive suite has the canonical form and digest that were published', () => {
    const tasks = driveTasks.map(([id, task_sha256, proxy]) => ({ domain: 'multi_apps', id, task_sha256, proxy }))
    const text = canonicalJson(inventory('gdrive', tasks))
    expect(text).toHaveLength(1_580)
    expect(sha256Hex(text)).toBe('8fa078095c754be7f33e0aea55575be5bbf0bd0cf78b937c213eb13e2f475eb8')
  })
})

const source = process.env['OSWORLD_TASKS_DIR'] ?? ''
const needsTasks = source === '' ? ' (skipped: OSWORLD_TASKS_DIR names no folder of OSWorld tasks)' : ''

describe.skipIf(source === '')(`the real task files${needsTasks}`, () => {
  const root = [join(source, 'evaluation_examples'), source].find((folder) => existsSync(join(folder, 'examples'))) ?? ''

  it('of the Google Drive suite have their published digests', async () => {
    for (const [id, expected] of driveTasks) {
      expect(await sha256File(join(root, 'examples', 'multi_apps', `${id}.json`))).toBe(expected)
    }
  })

  it('with their published digests give the published digest of all 369 tasks', async (context) => {
    const records = join(source, 'verification.json')
    if (!existsSync(records)) return context.skip('this folder has no verification.json with the published digests')
    const published = JSON.parse(await readFile(records, 'utf8')) as Record<string, unknown>[]
    const tasks = published.map((task) => ({
      domain: task['domain'] as string,
      id: task['id'] as string,
      task_sha256: task['published_fc31a90_sha256'] as string,
      proxy: task['published_fc31a90_proxy'] as boolean,
    }))
    expect(tasks).toHaveLength(369)
    expect(sha256Hex(canonicalJson(inventory('all', tasks)))).toBe('4386bfed910f60a016e8a81b1a792c258a2f688318abdafc1cb2ca4ba00d3e96')
  })
})
