import { readFile } from 'node:fs/promises'
import { type ContractFile, contractFileSchema, type Inventory, inventorySchema, parseJsonDocument, profilesSchema } from '@osworld-e2b/contracts'
import { expect, test } from 'vitest'
import { bounds, checkSpending, preflight, type PreflightFacts } from '../src/index.ts'
import { contractDigest } from './examples.ts'

const validation = new URL('../../../validation/', import.meta.url)

async function text(path: string): Promise<string> {
  return readFile(new URL(path, validation), 'utf8')
}

async function inventory(path: string): Promise<Inventory> {
  return parseJsonDocument(inventorySchema, path, await text(path))
}

async function shipped(name: string): Promise<ContractFile> {
  return parseJsonDocument(contractFileSchema, name, await text(`contracts/${name}`))
}

/** With the published profiles and inventories, and stand-ins for the two secret files. */
async function factsOf(contract: ContractFile): Promise<PreflightFacts> {
  const profiles = parseJsonDocument(profilesSchema, 'profiles.json', await text('profiles.json'))
  const { profile, suite, selection } = contract.scoring
  const whole = await inventory(`inventories/${profile}-${suite}.json`)
  const drive = new Set((await inventory('inventories/current-v1-gdrive.json')).tasks.map(({ id }) => id))
  const tasks = whole.tasks
    .filter(({ domain, id }) => selection === undefined || selection.includes(`${domain}/${id}`))
    .map(({ domain, id, proxy }) => ({ domain, id, proxy, needsDrive: drive.has(id) }))
  return {
    contract,
    contractSha256: contractDigest(contract),
    digests: { scriptsSha256: undefined, agentSha256: undefined, adjustmentsSha256: undefined },
    hasSettings: true,
    profiles,
    isBuiltIn: true,
    inventory: whole,
    packageProfiles: ['package-1.0.2'],
    tasks,
    proxyFile: { label: 'proxy.json', sha256: 'c'.repeat(64), content: '[{"host": "127.0.0.1", "port": 3128}]' },
    secretMounts: [{ text: '/a.json:/opt/osworld/secrets/a.json', file: { label: 'a.json', sha256: 'd'.repeat(64) } }],
  }
}

test.each([
  ['full-suite.json', 369, 56],
  ['parity.json', 361, 45],
  ['minimax-diagnostic.json', 10, 0],
])('the shipped %s passes preflight with its %i tasks, %i of them with a proxy', async (name, taskCount, proxyCount) => {
  const verdict = preflight(await factsOf(await shipped(name)))
  expect(verdict).toMatchObject({ ok: true, evidence: { task_count: taskCount, capabilities: { proxy: { required_task_count: proxyCount } } } })
})

test('the full suite without its secret files is told both', async () => {
  const facts = await factsOf(await shipped('full-suite.json'))
  const verdict = preflight({ ...facts, proxyFile: undefined, secretMounts: [] })
  expect(verdict.ok ? [] : verdict.faults.map(({ message }) => message)).toEqual([
    '56 selected tasks ask for a proxy, and no proxy file was given; give one with --proxy-file, or set scoring.enable_proxy to false in a run that is not final.',
    '8 tasks of all need a Google account, and no secret file was given; give one with --vm-secret-mount local:/opt/osworld/secrets/<file>, or select tasks without Google Drive.',
  ])
})

test.each([
  ['full-suite.json', 369, 184_500],
  ['parity.json', 361, 180_500],
])('the shipped %s with %i tasks may need at most %i model requests', async (name, taskCount, modelRequests) => {
  expect(bounds(await shipped(name), { taskCount, sandboxHourUsd: null, modelRequestUsd: null }).model_requests).toBe(modelRequests)
})

test.each(['full-suite.json', 'parity.json', 'minimax-diagnostic.json'])('the shipped %s cannot spend as it is', async (name) => {
  expect(await spendingRules(name)).toEqual(expect.arrayContaining(['not_authorized', 'not_final', 'endpoint_unset', 'authorization_missing']))
})

test('the shipped contract of a local Qwen3-VL asks for its authorization, its endpoint and its key', async () => {
  expect(await spendingRules('local-qwen3vl.json')).toEqual(['not_authorized', 'not_final', 'endpoint_unset', 'endpoint_key_unset', 'authorization_missing'])
})

test('the shipped local contract is free', async () => {
  expect(await spendingRules('local-starter.json')).toEqual([])
})

async function spendingRules(name: string): Promise<readonly string[]> {
  const contract = await shipped(name)
  return checkSpending({ contract, contractSha256: contractDigest(contract), addresses: new Map(), keysSet: new Set(), agentUrl: undefined, prices: { models: {} }, sandboxHourUsd: null, nowMs: 0 }).map(({ rule }) => rule)
}
