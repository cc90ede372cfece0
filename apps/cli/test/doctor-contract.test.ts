import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { workspace } from '../src/workspace.ts'
import { type Account, buildId, check, examine, proxyLogin, reportOf, startAccount, writeContract } from './doctor-account.ts'
import { makeStalePlace, type StalePlace } from './stale-place.ts'

let account: Account
let place: StalePlace

beforeAll(async () => {
  account = await startAccount()
})
afterAll(() => account.close())
beforeEach(async () => {
  place = await makeStalePlace()
})
afterEach(() => place.remove())

function environment(): NodeJS.ProcessEnv {
  return { ...place.environment, ...account.variables }
}

test('every fault of preflight is a missing need with its sentence', async () => {
  const proxyFile = join(place.root, 'proxies.json')
  await writeFile(proxyFile, `{"${proxyLogin.password}": `)
  const examined = await examine(place, { contract: await writeContract(place, { scoring: { enable_proxy: true, task_count: 1 } }), proxyFile }, environment())
  const faults = reportOf(examined).checks.filter(({ need }) => need.startsWith('preflight'))
  expect(faults.map(({ need }) => need)).toEqual(['preflight scoring.task_count', 'preflight'])
  expect(faults[1]).toEqual({
    status: 'missing',
    need: 'preflight',
    found: 'refused by the rule proxy_file_malformed',
    required: true,
    remedy: 'Proxy file proxies.json is not JSON; write a list of {"host", "port", "username", "password"}.',
  })
  expect(examined.code).toBe(1)
})

test('a suite that there is not leaves the account judged', async () => {
  const contract = await writeContract(place, { scoring: { suite: 'nowhere' } })
  const examined = await examine(place, { contract }, environment())
  expect(check(examined, 'tasks of the contract')).toMatchObject({ status: 'missing', found: 'cannot be selected', remedy: expect.stringContaining('nowhere') as string })
  expect(check(examined, 'key of route e2b-compatible')).toMatchObject({ status: 'ok' })
})

test("a pinned source's contract is judged by its inventory, and its evaluators' programs are not known without its tree", async () => {
  const examined = await examine(place, { contract: join(workspace.suites, 'contracts', 'full-suite.json') }, place.environment)
  expect(check(examined, 'host tools of the evaluators')).toMatchObject({ status: 'warning', remedy: 'npx osworld setup --profile current-v1, and ask again' })
  expect(check(examined, 'key of route e2b')).toMatchObject({ status: 'missing', found: 'E2B_API_KEY is not set' })
  expect(check(examined, 'source of the contract')).toMatchObject({ status: 'ok', found: expect.stringMatching(/^The source of current-v1 is commit fc31a90/) as string })
})

test('a source that is only inferred is told so', async () => {
  const examined = await examine(place, { contract: join(workspace.suites, 'contracts', 'parity.json') }, place.environment)
  expect(check(examined, 'source of the contract')).toMatchObject({ found: expect.stringContaining('is inferred, not authenticated') as string })
})

test('what preflight only notes stands beside its verdict', async () => {
  const contract = await writeContract(place, { scoring: { domains: ['os'] } })
  expect(check(await examine(place, { contract }, environment()), 'preflight')).toMatchObject({ status: 'ok', found: expect.stringContaining('; a selection of suite starter, not the whole of it') as string })
})

const task = (id: string, func: string) => JSON.stringify({ id, instruction: 'Do it.', config: [], evaluator: { func, result: {}, expected: {} } })

test("the programs that the evaluators of a suite's tasks call are looked for on the path", async () => {
  const suite = join(place.root, 'suite')
  await mkdir(join(suite, 'os'), { recursive: true })
  await writeFile(join(suite, 'os', 'read-picture.json'), task('read-picture', 'compare_image_text'))
  await writeFile(join(suite, 'os', 'read-text.json'), task('read-text', 'exact_match'))
  const contract = await writeContract(place, { scoring: { suite } })
  const examined = await examine(place, { contract }, { ...environment(), PATH: place.precious })
  expect(check(examined, 'host tool file')).toMatchObject({ status: 'missing', found: 'not found, called by the evaluators of 1 selected task', remedy: 'apt-get install file (as root)' })
  expect(reportOf(examined).checks.some(({ need }) => need === 'host tool ffmpeg')).toBe(false)
})

test("a pinned source's tree tells the programs of its evaluators, and one without the tasks leaves them unknown", async () => {
  const id = '02ce9a50-7af2-47ed-8596-af0c230501f8'
  const checkout = join(place.root, 'tree')
  const folder = join(checkout, 'evaluation_examples', 'examples', 'multi_apps')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, `${id}.json`), task(id, 'compare_audios'))
  const pinned = (selected: string) => writeContract(place, { scoring: { profile: 'current-v1', suite: 'nogdrive', selection: [selected] } })
  const examined = await examine(place, { contract: await pinned(`multi_apps/${id}`), checkout }, environment())
  expect(check(examined, 'host tool ffmpeg')).toMatchObject({ found: expect.stringContaining('called by the evaluators of 1 selected task') as string })
  const other = await examine(place, { contract: await pinned('chrome/bb5e4c0d'), checkout }, environment())
  expect(check(other, 'host tools of the evaluators')).toMatchObject({ status: 'warning', found: `not known: the tree ${checkout} does not hold the tasks of current-v1` })
})

test('a local contract asks no account, and its template is looked for in the data folder', async () => {
  const contract = await writeContract(place, { route: 'local', scoring: { agent: { kind: 'none' } }, endpoints: null })
  const examined = await examine(place, { contract }, place.environment)
  expect(check(examined, 'template of the contract')).toMatchObject({ status: 'missing', found: `desk:${buildId} is not built` })
  expect(check(examined, 'local server')).toMatchObject({ status: 'ok' })
  const needs = reportOf(examined).checks.map(({ need }) => need)
  expect(needs.filter((need) => /^(key of|clock|sandboxes at)/.test(need))).toEqual([])
})

test('a contract that cannot be read is refused in one sentence', async () => {
  const missing = join(place.root, 'none.json')
  await expect(examine(place, { contract: missing }, place.environment)).rejects.toThrow(`--contract: there is no file ${missing}; give the path of a contract, such as a copy of one in validation/contracts.`)
  await expect(examine(place, { proxyFile: missing }, place.environment)).rejects.toThrow("--proxy-file is about a contract's campaign; name the contract with --contract, or leave it out.")
})
