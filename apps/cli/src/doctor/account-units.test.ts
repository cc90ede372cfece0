import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ContractFile, contractFileSchema, type OsworldTask } from '@osworld-e2b/contracts'
import { expect, onTestFinished, test } from 'vitest'
import type { CleaningFacts } from '../clean/cleaning-facts.ts'
import { refuseWithoutContract } from './arguments.ts'
import { below, unasked } from './asking.ts'
import { attemptMemoryBytes, evidenceBytes } from './campaign-room.ts'
import { clockSkew } from './clock-skew.ts'
import { findHostTools } from './host-tools.ts'
import { templateLine } from './made-checks.ts'

const mib = 2 ** 20

test.each([
  ['the same second', 'Mon, 30 Nov 2026 09:00:00 GMT', 0],
  ['the second before', 'Mon, 30 Nov 2026 08:59:59 GMT', 101],
  ['a minute before', 'Mon, 30 Nov 2026 08:59:00 GMT', 59_101],
  ['a minute after', 'Mon, 30 Nov 2026 09:01:00 GMT', -59_800],
  ['no date', null, null],
  ['no real date', 'soon', null],
])('a clock asked at 09:00:00.100 and answered 100 ms later with %s', (_what, header, skew) => {
  const askedAtMs = Date.parse('2026-11-30T09:00:00.100Z')
  expect(clockSkew(header, { askedAtMs, answeredAtMs: askedAtMs + 100 })).toBe(skew)
})

test.each([
  [new DOMException('http://user:word@host', 'TimeoutError'), 'does not answer within 10 s'],
  [Object.assign(new Error('key abc'), { statusCode: 503 }), 'answers 503'],
  [new TypeError('fetch failed', { cause: Object.assign(new Error('host'), { code: 'ECONNREFUSED' }) }), 'cannot be reached (ECONNREFUSED)'],
  [new TypeError('http://user:word@host'), 'cannot be asked (TypeError)'],
])('why there is no answer is told without the words of the error', (error, problem) => {
  expect(unasked(error)).toEqual({ state: 'unknown', problem })
})

test('an address may end with a slash', () => {
  expect([below('http://a/v1', '/models'), below('http://a/v1/', '/models')]).toEqual(['http://a/v1/models', 'http://a/v1/models'])
})

test('a flag about a campaign is refused without a contract', () => {
  expect(() => refuseWithoutContract({ proxyFile: 'proxies.json' })).toThrow("--proxy-file is about a contract's campaign; name the contract with --contract, or leave it out.")
  expect(() => refuseWithoutContract({ proxyFile: 'proxies.json', contract: 'contract.json' })).not.toThrow()
})

const task = (func: string | string[]): OsworldTask => ({ id: 'a', instruction: 'b', evaluator: { func } })

test('programs are counted over the tasks whose metrics call them, and looked for on the path', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'host-tools-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'file'), '#!/bin/sh\n')
  await writeFile(join(folder, 'ffmpeg'), 'no program')
  await chmod(join(folder, 'file'), 0o755)
  const tasks = [task('compare_image_text'), task(['compare_image_text', 'exact_match', 'compare_image_text']), task('compare_audios')]
  expect(await findHostTools(tasks, `/nonexistent:${folder}`)).toEqual([
    { name: 'file', package: 'file', taskCount: 2, isFound: true },
    { name: 'ffmpeg', package: 'ffmpeg', taskCount: 1, isFound: false },
  ])
  expect(await findHostTools([task('exact_match')], folder)).toEqual([])
})

function contract(change: { readonly route?: string; readonly agent?: object } = {}): ContractFile {
  return contractFileSchema.parse({
    schema_version: 2,
    scoring: { profile: 'package-1.0.2', suite: 'starter', trials: 2, agent: change.agent ?? { kind: 'none' }, max_steps: 60 },
    operation: { route: { kind: change.route ?? 'e2b', final: false }, num_envs: 4, attempt_timeout_seconds: 120 },
  })
}

test('evidence grows with tasks, trials and steps, and a recording ends with its attempt', () => {
  expect(evidenceBytes(contract(), 0)).toBe(256 * mib)
  expect(evidenceBytes(contract(), 3)).toBe((256 + 3 * 2 * (60 / 4 + 2 * 5)) * mib)
})

test("memory is that of desktops on the local route, and of upstream's whole runner elsewhere", () => {
  const runner = { kind: 'upstream_runner', runner: 'run.py', model: 'm', settings: {} }
  expect(attemptMemoryBytes(contract())).toBe((256 + 4 * 256) * mib)
  expect(attemptMemoryBytes(contract({ agent: runner }))).toBe((256 + 4 * 1_024) * mib)
  expect(attemptMemoryBytes(contract({ route: 'local' }))).toBe((256 + 4 * 1_024) * mib)
})

test("a contract's own template is looked for by its build", () => {
  const build = '00000000-0000-0000-0000-000000000001'
  const places = { dataFolder: '/data', cacheFolder: '/cache', results: [] }
  const templates = [{ name: 'mine', builds: [{ buildId: build, isReady: true, layers: ['layers/a'] }] }]
  const dataFolder = { root: '/data', holder: undefined, templates, parts: [] }
  const facts: CleaningFacts = { places, sandboxes: [], runs: [], temporaryFolders: [], scratchFolders: [], checkouts: [], environments: [], currentEnvironments: [], dataFolder, currentTemplate: 'osworld-gnome-1' }
  expect(templateLine(facts)).toMatchObject({ need: 'desktop template', status: 'missing' })
  expect(templateLine(facts, `mine:${build}`)).toMatchObject({ need: 'template of the contract', status: 'ok', found: `mine:${build} is built` })
  expect(templateLine(facts, 'mine:00000000-0000-0000-0000-000000000002')).toMatchObject({ status: 'missing', found: 'mine:00000000-0000-0000-0000-000000000002 is not built' })
})
