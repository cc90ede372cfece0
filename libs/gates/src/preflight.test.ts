import { parseDocument, preflightEvidenceSchema } from '@osworld-e2b/contracts'
import { expect, test } from 'vitest'
import { contractDigest, digest, factsOf, fullSuite, parity, starter } from '../test/examples.ts'
import type { CapabilityTask } from './capability-facts.ts'
import { preflight, type PreflightFacts } from './preflight.ts'

function tasks(count: number): CapabilityTask[] {
  return Array.from({ length: count }, (_, index) => ({ domain: 'os', id: `task-${index}`, proxy: index < 56, needsDrive: index < 8 }))
}

function facts(contract: PreflightFacts['contract'], more: Partial<PreflightFacts> = {}): PreflightFacts {
  return {
    ...factsOf(contract),
    contractSha256: contractDigest(contract),
    digests: { scriptsSha256: undefined, agentSha256: undefined, adjustmentsSha256: undefined },
    hasSettings: true,
    tasks: tasks(369),
    proxyFile: { label: 'proxy.json', sha256: 'c'.repeat(64), content: '[{"host": "127.0.0.1", "port": 3128}]' },
    secretMounts: [{ text: '/a.json:/opt/osworld/secrets/a.json', file: { label: 'a.json', sha256: 'd'.repeat(64) } }],
    ...more,
  }
}

test('a contract that breaks no rule is told as what would be run', () => {
  const contract = fullSuite()
  const verdict = preflight(facts(contract))
  if (!verdict.ok) throw new Error(verdict.faults.map(({ message }) => message).join('\n'))
  expect(parseDocument(preflightEvidenceSchema, 'the evidence', verdict.evidence)).toEqual({
    schema_version: 1,
    contract_sha256: contractDigest(contract),
    profile: 'current-v1',
    provenance: 'verified_official_upstream',
    inferred: false,
    unverified: false,
    suite: 'all',
    task_count: 369,
    inventory_sha256: digest,
    trials: 1,
    template: 'osworld-gnome-example:00000000-0000-0000-0000-000000000001',
    route: { kind: 'e2b', final: false },
    agent: { kind: 'upstream_runner', name: 'scripts/python/run_multienv_qwen3vl.py', model: 'qwen3vl' },
    timing: 'upstream',
    capabilities: {
      proxy: { configured: true, required_task_count: 56, source_label: 'proxy.json', source_sha256: 'c'.repeat(64) },
      secret_mounts: [{ guest_path: '/opt/osworld/secrets/a.json', source_label: 'a.json', source_sha256: 'd'.repeat(64) }],
    },
    notes: [],
  })
})

test.each<[string, PreflightFacts, unknown]>([
  ['the historical profile as inferred', facts(parity(), { tasks: tasks(361) }), { provenance: 'inferred_from_run_date', inferred: true, unverified: false }],
  ["a user's own profile as unverified", facts(fullSuite(), { isBuiltIn: false }), { provenance: 'unverified', inferred: false, unverified: true }],
  ['a package without a provenance', facts(starter(), { tasks: [{ domain: 'os', id: 'a', proxy: false, needsDrive: false }, { domain: 'os', id: 'b', proxy: false, needsDrive: false }] }), { inferred: false, unverified: false, task_count: 2, agent: { kind: 'scripted', name: 'solve' } }],
])('the evidence labels %s', (_, given, expected) => {
  const verdict = preflight(given)
  expect(verdict).toMatchObject({ ok: true, evidence: expected })
})

test('an authorization does not change the evidence, and is not asked for', () => {
  const authorized = fullSuite({ 'operation.execution_authorized': true, 'operation.authorization': { contract_sha256: contractDigest(fullSuite()) } })
  expect(preflight(facts(authorized))).toEqual(preflight(facts(fullSuite())))
})

test('faults of the contract and of its secret files are told together', () => {
  const verdict = preflight(facts(fullSuite({ 'scoring.task_count': 361, 'operation.num_envs': 370 }), { proxyFile: undefined, secretMounts: [] }))
  expect(verdict).toMatchObject({ ok: false, faults: [{ rule: 'task_count_other' }, { rule: 'num_envs_too_many' }, { rule: 'proxy_file_missing' }, { rule: 'secret_mount_missing' }] })
})

test('a selection of nothing is refused', () => {
  const verdict = preflight(facts(fullSuite({ 'scoring.domains': ['os'] }), { tasks: [] }))
  expect(verdict).toEqual({
    ok: false,
    faults: [{ rule: 'selection_empty', message: 'No task of current-v1/all is selected; correct scoring.selection or scoring.domains, or leave them out for the whole suite.' }],
  })
})

test('an unknown suite is told once, not as an empty selection too', () => {
  const verdict = preflight(facts(fullSuite({ 'scoring.suite': 'al' }), { tasks: [] }))
  expect(verdict).toMatchObject({ ok: false, faults: [{ rule: 'suite_unknown' }] })
  expect(verdict.ok ? 0 : verdict.faults.length).toBe(1)
})

test('digests that were written must be those of the files', () => {
  const scripted = { kind: 'scripted', scripts: 'solve', scripts_sha256: '0'.repeat(64) }
  const contract = starter({ 'scoring.agent': scripted, 'scoring.adjustments_sha256': '1'.repeat(64) })
  const tasks = [{ domain: 'os', id: 'a', proxy: false, needsDrive: false }, { domain: 'os', id: 'b', proxy: false, needsDrive: false }]
  const verdict = preflight(facts(contract, { tasks, digests: { scriptsSha256: '2'.repeat(64), agentSha256: undefined, adjustmentsSha256: '3'.repeat(64) } }))
  expect(verdict.ok ? [] : verdict.faults.map(({ message }) => message)).toEqual([
    `scoring.agent.scripts_sha256 is ${'0'.repeat(64)}, but the files have ${'2'.repeat(64)}; review what changed and write that digest.`,
    `scoring.adjustments_sha256 is ${'1'.repeat(64)}, but the files have ${'3'.repeat(64)}; review what changed and write that digest.`,
  ])
})

test.each([
  [undefined, '8 tasks of all sign in to Google, and no settings were given; give the folder with google/settings.json and googledrive/ with --settings.'],
  [false, 'The folder that --settings names is not there; give the one that holds google/settings.json and googledrive/.'],
])('Drive tasks need their settings, which are %s', (hasSettings, sentence) => {
  const verdict = preflight(facts(fullSuite(), { hasSettings }))
  expect(verdict.ok ? [] : verdict.faults.map(({ message }) => message)).toEqual([sentence])
})

const mine = { kind: 'module', class: 'mine:Agent', model: 'm', settings: {} }
const twoTasks = [{ domain: 'os', id: 'a', proxy: false, needsDrive: false }, { domain: 'os', id: 'b', proxy: false, needsDrive: false }]
const figures = { 'scoring.task_count': 2, 'scoring.inventory_sha256': digest }

function packageVerdict(agent: object, agentSha256?: string): readonly string[] {
  const contract = starter({ 'scoring.agent': agent, ...figures })
  const given = facts(contract, { tasks: twoTasks, inventory: { suite: 'starter', task_count: 2, inventory_sha256: digest }, digests: { scriptsSha256: undefined, agentSha256, adjustmentsSha256: undefined } })
  const verdict = preflight(given)
  return verdict.ok ? [JSON.stringify(verdict.evidence.agent), ...verdict.evidence.notes] : verdict.faults.map(({ message }) => message)
}

const elsewhere = (kind: string) => `an agent of kind ${kind} without endpoints asks its model elsewhere: its requests and what they cost are not known`

test("the files of an agent of the user's own are named by their digest, and must be those", () => {
  const found = '4'.repeat(64)
  expect(packageVerdict(mine, found)).toEqual([`scoring.agent.source_sha256 is missing, and a run that may cost money names what its agent does; write ${found}, the digest of the files in --agent-path.`])
  expect(packageVerdict({ ...mine, source_sha256: '5'.repeat(64) }, found)).toEqual([`scoring.agent.source_sha256 is ${'5'.repeat(64)}, but the files have ${found}; review what changed and write that digest.`])
  expect(packageVerdict({ ...mine, source_sha256: found }, found)).toEqual(['{"kind":"module","name":"mine:Agent","model":"m"}', elsewhere('module')])
})

test('an agent that is asked over HTTP is told with the name that its author gives it', () => {
  expect(packageVerdict({ kind: 'http', name: 'theirs', settings: {} })).toEqual(['{"kind":"http","name":"theirs"}', elsewhere('http')])
})
