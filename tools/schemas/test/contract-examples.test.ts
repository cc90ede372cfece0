import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ContractFile, inventorySchema, parseJsonDocument, profilesSchema, readContractFile, suiteInventorySchema, suiteSchema } from '@osworld-e2b/contracts'
import { prettyJson } from '@osworld-e2b/inventory'
import { describe, expect, test } from 'vitest'
import { fullSuiteV1, parityV1 } from './version-1.ts'

const validation = fileURLToPath(new URL('../../../validation', import.meta.url))
const folder = join(validation, 'contracts')
const paid = ['full-suite.json', 'minimax-diagnostic.json', 'parity.json']
const local = ['local-qwen3vl.json', 'local-starter.json']

async function example(name: string): Promise<ContractFile> {
  return readContractFile(name, await readFile(join(folder, name), 'utf8'))
}

test('there are five examples, each in the table of the README', async () => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort()
  expect(names).toEqual([...paid, ...local].sort())
  const readme = await readFile(join(folder, 'README.md'), 'utf8')
  for (const name of names) expect(readme).toContain(`| \`${name}\` |`)
})

describe.each([...paid, ...local])('%s', (name) => {
  test('is a contract, written as this project writes JSON, and names its schema', async () => {
    const text = await readFile(join(folder, name), 'utf8')
    const { $schema } = await example(name)
    expect(text).toBe(prettyJson(JSON.parse(text)))
    expect(existsSync(join(folder, $schema ?? ''))).toBe(true)
    expect($schema).toBe('../schemas/contract.schema.json')
  })
})

describe.each(paid)('%s', (name) => {
  test('cannot be executed as shipped', async () => {
    const { operation, scoring } = await example(name)
    expect(operation).toMatchObject({ execution_authorized: false, route: { kind: 'e2b', final: false } })
    expect(operation.authorization).toBeUndefined()
    expect(scoring.template).toBe('osworld-gnome-example:00000000-0000-0000-0000-000000000001')
  })

  test('agrees with its profile and its inventory', async () => {
    const { scoring } = await example(name)
    const { profiles } = parseJsonDocument(profilesSchema, 'profiles.json', await readFile(join(validation, 'profiles.json'), 'utf8'))
    const profile = profiles[scoring.profile]
    const path = profile?.suites[scoring.suite]?.inventory ?? ''
    const inventory = parseJsonDocument(inventorySchema, path, await readFile(join(dirname(validation), path), 'utf8'))
    expect(scoring).toMatchObject({ commit: profile?.commit, task_count: inventory.task_count, inventory_sha256: inventory.inventory_sha256 })
    const ids = inventory.tasks.map(({ domain, id }) => `${domain}/${id}`)
    expect(ids).toEqual(expect.arrayContaining([...(scoring.selection ?? [])]))
  })

  test('has a budget for every request that its attempts may make', async () => {
    const { operation, scoring } = await example(name)
    const tasks = scoring.selection?.length ?? scoring.task_count ?? 0
    const requests = tasks * scoring.trials * scoring.max_steps * (operation.model_call_attempts ?? 1) * operation.max_attempts_per_trial
    expect(operation.budget?.model_requests).toBe(requests)
  })
})

test('the MiniMax diagnosis has one task of each domain, none of which asks for a proxy', async () => {
  const { scoring } = await example('minimax-diagnostic.json')
  const inventory = parseJsonDocument(inventorySchema, 'inventory', await readFile(join(validation, 'inventories', 'current-v1-nogdrive.json'), 'utf8'))
  const chosen = inventory.tasks.filter(({ domain, id }) => scoring.selection?.includes(`${domain}/${id}`))
  expect(new Set(chosen.map(({ domain }) => domain))).toEqual(new Set(inventory.tasks.map(({ domain }) => domain)))
  expect(chosen.map(({ proxy }) => proxy)).toEqual(Array.from({ length: 10 }, () => false))
})

test("the example of OSWorld's Qwen3-VL agent can be run on this machine, and not as shipped", async () => {
  const { operation, scoring } = await example('local-qwen3vl.json')
  const inventory = parseJsonDocument(suiteInventorySchema, 'inventory.json', await readFile(join(validation, scoring.suite, 'inventory.json'), 'utf8'))
  expect(scoring).toMatchObject({ agent: { kind: 'upstream', name: 'qwen3vl' }, task_count: inventory.task_count, inventory_sha256: inventory.inventory_sha256 })
  expect(operation).toMatchObject({ execution_authorized: false, route: { kind: 'local', final: false }, endpoints: [{ label: 'QWEN_BASE_URL', api_key_variable: 'QWEN_API_KEY' }] })
  expect(operation.authorization).toBeUndefined()
})

test('the local example names a suite and scripts that are there, and spends nothing', async () => {
  const { operation, scoring } = await example('local-starter.json')
  const suite = parseJsonDocument(suiteSchema, 'suite.json', await readFile(join(validation, scoring.suite, 'suite.json'), 'utf8'))
  expect(scoring.agent).toEqual({ kind: 'scripted', scripts: 'solve' })
  for (const { domain, id } of suite.tasks) expect(existsSync(join(validation, scoring.suite, 'scripts', 'solve', domain, `${id}.json`))).toBe(true)
  expect(operation.route.kind).toBe('local')
  expect(operation.endpoints).toBeUndefined()
})

test.each([
  ['full-suite.json', fullSuiteV1],
  ['parity.json', parityV1],
])('%s means what the same contract of version 1 means', async (name, version1) => {
  const { $schema, description, ...shipped } = await example(name)
  expect([$schema, description].every((text) => text !== undefined)).toBe(true)
  expect(readContractFile('version 1', JSON.stringify(version1))).toEqual(shipped)
})
