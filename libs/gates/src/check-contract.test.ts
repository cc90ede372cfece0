import { describe, expect, test } from 'vitest'
import { type Changes, digest, factsOf, fullSuite, parity, starter } from '../test/examples.ts'
import { checkContract, contractNotes } from './check-contract.ts'
import type { ContractFacts } from './contract-facts.ts'

const commit = 'fc31a9049664292fcb35d6e501ee1dc839f2cf6d'
const otherCommit = 'a'.repeat(40)
const otherDigest = 'b'.repeat(64)

function sentences(facts: ContractFacts): readonly string[] {
  return checkContract(facts).map(({ message }) => message)
}

test.each([['the full suite', fullSuite()], ['the parity campaign', parity()], ['the starter suite', starter()], ['a final parity campaign', parity({ 'operation.route.final': true })]])('%s breaks no rule', (_, contract) => {
  expect(checkContract(factsOf(contract))).toEqual([])
})

const fullSuiteCases: [wrong: string, changes: Changes, sentence: string, more?: Partial<ContractFacts>][] = [
  ['an unknown profile', { 'scoring.profile': 'current-v2' }, 'scoring.profile is "current-v2", and there is no such profile; write one of the nearest: current-v1, package-1.0.2 and ui-mopd-qwen3vl-docker.'],
  ['a suite of no profile', { 'scoring.suite': 'nodrive' }, 'scoring.suite is "nodrive", which profile current-v1 does not declare; write one of its suites: nogdrive, gdrive and all.'],
  ['another commit', { 'scoring.commit': otherCommit }, `scoring.commit is ${otherCommit}, but profile current-v1 is pinned at ${commit}; write that commit or name another profile.`],
  ['a final run without a commit', { 'scoring.commit': undefined, 'operation.route.final': true }, `scoring.commit is missing, and a final run says which source it measures; write ${commit}, the commit of current-v1.`],
  ['a wrong number of tasks', { 'scoring.task_count': 1369 }, 'scoring.task_count is 1,369, but the inventory has 369; write 369, the number of tasks of current-v1/all.'],
  ['no number of tasks', { 'scoring.task_count': undefined }, 'scoring.task_count is missing; write 369, the number of tasks of current-v1/all.'],
  ['another inventory digest', { 'scoring.inventory_sha256': otherDigest }, `scoring.inventory_sha256 is ${otherDigest}, but the inventory of current-v1/all has ${digest}; write that digest, or find out who changed the tasks.`],
  ['no inventory digest', { 'scoring.inventory_sha256': undefined }, `scoring.inventory_sha256 is missing; write ${digest}, the digest of current-v1/all.`],
  ['no inventory', {}, 'scoring.inventory_sha256 cannot be checked, because no inventory of current-v1/all was found; restore the file that the profile names.', { inventory: undefined }],
  ['the inventory of another suite', {}, 'The inventory that was read for current-v1/all is of current-v1/gdrive; restore the file that the profile names.', { inventory: { profile: 'current-v1', suite: 'gdrive', task_count: 369, inventory_sha256: digest } }],
  ['the inventory of another profile', {}, 'The inventory that was read for current-v1/all is of mine/all; restore the file that the profile names.', { inventory: { profile: 'mine', suite: 'all', task_count: 369, inventory_sha256: digest } }],
  ['the inventory of another commit', {}, `The inventory that was read for current-v1/all is of commit ${otherCommit}, not ${commit}; restore the file that the profile names.`, { inventory: { profile: 'current-v1', suite: 'all', commit: otherCommit, task_count: 369, inventory_sha256: digest } }],
  ['a setting that this program decides', { 'scoring.agent.settings.result_dir': '/tmp' }, 'scoring.agent.settings.result_dir is decided by this program for every attempt; take it out.'],
  ['a setting with a field of its own', { 'scoring.agent.settings.max_steps': 5 }, 'scoring.agent.settings.max_steps has a field of its own; write scoring.max_steps instead.'],
  ['an agent of ours on a pinned source', { 'scoring.agent': { kind: 'none' } }, 'scoring.agent.kind is none, which cannot be run on the pinned source current-v1 yet; write upstream_runner, or name a package profile.'],
  ['no template on a paid route', { 'scoring.template': undefined }, 'scoring.template is missing, and only the local route can build one; write the name:build_id that `nx run template-builder:build` prints for route e2b.'],
  ['more desktops than tasks', { 'operation.num_envs': 370 }, 'operation.num_envs is 370, but there are only 369 tasks; write at most 369.'],
  ['more desktops than the one task', { 'operation.num_envs': 2 }, 'operation.num_envs is 2, but there is only 1 task; write at most 1.', { taskCount: 1 }],
  ['more desktops than trials', { 'operation.num_envs': 7, 'scoring.trials': 3 }, 'operation.num_envs is 7, but there are only 2 tasks and 3 trials of each; write at most 6.', { taskCount: 2 }],
  ['a phase that may take longer than its attempt', { 'operation.phase_timeout_seconds': { setup: 1_800, agent: 1_801 } }, 'operation.phase_timeout_seconds.agent is 1,801, but a whole attempt may take 1,800; write at most 1800, or raise operation.attempt_timeout_seconds.'],
  ["OSWorld's runner without an endpoint", { 'operation.endpoints': undefined }, 'operation.endpoints is missing, and an agent of kind upstream_runner asks a model; name the environment variable that holds the address of one.'],
  ["OSWorld's runner with our waits", { 'scoring.timing': 'settled' }, 'scoring.timing is settled, but OSWorld\'s own runner waits by its own fixed times; write "upstream".'],
]

test.each(fullSuiteCases)('the full suite with %s is refused', (_, changes, sentence, more) => {
  expect(sentences(factsOf(fullSuite(changes), more))).toEqual([sentence])
})

const inventory = { suite: 'starter', task_count: 2, inventory_sha256: digest }
const figures = { 'scoring.task_count': 2, 'scoring.inventory_sha256': digest }
const agents = { names: ['claude', 'prompt', 'qwen25vl', 'qwen3vl'], refused: { o3: 'it asks elsewhere; use http' } }
const qwen = { kind: 'upstream', name: 'qwen3vl', model: 'm', settings: { top_p: '0.9' } }

test.each([qwen, { kind: 'module', class: 'mine:Agent', model: 'm', settings: {} }, { kind: 'http', name: 'theirs', settings: {} }])('an agent of kind $kind with endpoints can be run on the package, and on no pinned source', (agent) => {
  expect(sentences(factsOf(starter({ 'scoring.agent': agent, 'operation.endpoints': [{ label: 'QWEN_BASE_URL' }], ...figures }), { inventory, agents }))).toEqual([])
  expect(sentences(factsOf(fullSuite({ 'scoring.agent': agent })))).toEqual([`scoring.agent.kind is ${agent.kind}, which cannot be run on the pinned source current-v1 yet; write upstream_runner, or name a package profile.`])
})

const starterCases: [wrong: string, changes: Changes, sentence: string, more?: Partial<ContractFacts>][] = [
  ['a commit', { 'scoring.commit': commit }, `scoring.commit is ${commit}, but profile package-1.0.2 is a package and has no commit; leave the field out or name a profile with a pinned source.`],
  ['a digest that nothing can be held to', { 'scoring.inventory_sha256': digest }, 'scoring.inventory_sha256 cannot be checked, because no inventory of package-1.0.2/starter was found; make one with `osworld inventory build`, or leave task_count and inventory_sha256 out.'],
  ['a count that nothing can be held to', { 'scoring.task_count': 22 }, 'scoring.task_count cannot be checked, because no inventory of package-1.0.2/starter was found; make one with `osworld inventory build`, or leave task_count and inventory_sha256 out.'],
  ['a count that its inventory does not have', { 'scoring.task_count': 22 }, 'scoring.task_count is 22, but the inventory has 23; write 23, the number of tasks of package-1.0.2/starter.', { inventory: { suite: 'starter', task_count: 23, inventory_sha256: digest } }],
  ["OSWorld's runner", { 'scoring.agent': fullSuite().scoring.agent, 'scoring.timing': 'upstream', 'operation.endpoints': [{ label: 'QWEN_BASE_URL' }], 'scoring.task_count': 2, 'scoring.inventory_sha256': digest }, 'scoring.agent.kind is upstream_runner, but profile package-1.0.2 is a package, which has no runner scripts; name a profile with a pinned source.', { inventory: { suite: 'starter', task_count: 2, inventory_sha256: digest } }],
  ['scripts on E2B without their digests', { 'operation.route.kind': 'e2b', 'scoring.template': 'desktop:00000000-0000-0000-0000-000000000001', 'scoring.task_count': 2, 'scoring.inventory_sha256': digest }, 'scoring.agent.scripts_sha256 is missing, and a run that may cost money names what its agent does; write the digest that `--dry-run --json` shows.', { inventory: { suite: 'starter', task_count: 2, inventory_sha256: digest } }],
  ['paid tasks that no inventory covers', { 'operation.route.kind': 'e2b', 'scoring.template': 'desktop:00000000-0000-0000-0000-000000000001', 'scoring.agent': { kind: 'none' } }, 'scoring.inventory_sha256 cannot be checked, because no inventory of package-1.0.2/starter was found; make one with `osworld inventory build`, since a run that may cost money names its tasks.'],
  ["one of OSWorld's agents without an endpoint", { 'scoring.agent': qwen, ...figures }, 'operation.endpoints is missing, and an agent of kind upstream asks a model; name the environment variable that holds the address of one.', { inventory }],
  ['an agent that the package does not bring', { 'scoring.agent': { ...qwen, name: 'qwen3v1' }, 'operation.endpoints': [{ label: 'QWEN_BASE_URL' }], ...figures }, 'scoring.agent.name is "qwen3v1", and profile package-1.0.2 brings no agent of that name; write one of the nearest: qwen3vl, qwen25vl and claude.', { inventory, agents }],
  ['an agent of the package that cannot be run', { 'scoring.agent': { ...qwen, name: 'o3' }, 'operation.endpoints': [{ label: 'QWEN_BASE_URL' }], ...figures }, 'scoring.agent.name is "o3", which cannot be run here: it asks elsewhere; use http.', { inventory, agents }],
  ['a model among the settings', { 'scoring.agent': { ...qwen, settings: { model: 'other' } }, 'operation.endpoints': [{ label: 'QWEN_BASE_URL' }], ...figures }, 'scoring.agent.settings.model has a field of its own; write scoring.agent.model instead.', { inventory }],
  ['a request budget that nobody counts', { 'scoring.agent': { kind: 'http', name: 'theirs', settings: {} }, 'operation.budget': { model_requests: 5, sandbox_hours: 5 }, ...figures }, 'operation.budget.model_requests is given, but an agent of kind http without operation.endpoints asks its model elsewhere, where nothing is counted; name the endpoints that it asks, or take the budget out.', { inventory }],
  ['the parity comparison', { comparison: parity().comparison }, 'comparison.mode is public_docker_parity, but profile package-1.0.2 has no public reference; name ui-mopd-qwen3vl-docker, or set the mode to none.'],
]

test.each(starterCases)('the starter suite with %s is refused', (_, changes, sentence, more) => {
  expect(sentences(factsOf(starter(changes), more))).toEqual([sentence])
})

test("a suite of the user's own is named by its folder, and held against the inventory that lies in it", () => {
  expect(sentences(factsOf(starter({ 'scoring.suite': '/suites/mine', ...figures }), { inventory: { ...inventory, suite: 'mine' } }))).toEqual([])
  expect(sentences(factsOf(starter({ 'scoring.suite': 'mine', ...figures }), { inventory }))).toEqual(['The inventory that was read for package-1.0.2/mine is of package-1.0.2/starter; restore the file that the profile names.'])
})

test('a budget of model requests below the worst case is allowed', () => {
  expect(sentences(factsOf(fullSuite({ 'operation.budget.model_requests': 1, 'operation.model_call_attempts': undefined })))).toEqual([])
})

describe('the parity comparison is refused with', () => {
  const settings = 'scoring.agent.settings'
  const orNone = 'write that, or set comparison.mode to none.'
  const cases: [wrong: string, changes: Changes, sentence: string][] = [
    ['a selection in a final run', { 'scoring.selection': ['os/1'], 'operation.route.final': true }, 'scoring.selection is given, but a final parity run covers the whole suite; leave it out, or set operation.route.final to false.'],
    ['domains in a final run', { 'scoring.domains': ['os'], 'operation.route.final': true }, 'scoring.domains is given, but a final parity run covers the whole suite; leave it out, or set operation.route.final to false.'],
    ['an agent of our own', { 'scoring.agent': { kind: 'none' } }, "scoring.agent.kind is none, but the parity comparison is of OSWorld's own runner; write upstream_runner, or set comparison.mode to none."],
    ['another runner', { 'scoring.agent.runner': 'run.py' }, `scoring.agent.runner is run.py, but profile ui-mopd-qwen3vl-docker is compared with scripts/python/run_multienv_qwen3vl.py; ${orNone}`],
    ['another model', { 'scoring.agent.model_repository': 'Qwen/Qwen3-VL-8B' }, `scoring.agent.model_repository is Qwen/Qwen3-VL-8B, but the reference run had UI-MOPD/Qwen3-VL-8B-Thinking-UI-MOPD-Student; ${orNone}`],
    ['a model without its commit', { 'scoring.agent.model_commit': undefined }, `scoring.agent.model_commit is missing, but the reference run had 3e6acbe78847870fc645786bfaf55c64bff84903; ${orNone}`],
    ['a warmer model', { [`${settings}.temperature`]: '0.1' }, `${settings}.temperature is "0.1", but the reference run had 0; ${orNone}`],
    ['another top_p', { [`${settings}.top_p`]: '1' }, `${settings}.top_p is "1", but the reference run had "0.9"; ${orNone}`],
    ['absolute coordinates by the runner\'s name', { [`${settings}.coordinate_type`]: undefined, [`${settings}.coord`]: 'absolute' }, `${settings}.coord is "absolute", but the reference run had "relative"; ${orNone}`],
    ['a setting that is missing', { [`${settings}.max_tokens`]: undefined }, `${settings}.max_tokens is missing; the reference run had 2048, write that.`],
    ['a setting that the reference has not', { [`${settings}.enable_thinking`]: false }, `${settings}.enable_thinking is not a setting of the reference run; leave it out, or set comparison.mode to none.`],
    ['another backend', { [`${settings}.api_backend`]: 'dashscope' }, `${settings}.api_backend is "dashscope", but the reference run had "openai"; ${orNone}`],
    ['fewer steps', { 'scoring.max_steps': 15 }, `scoring.max_steps is 15, but the reference run had 50; ${orNone}`],
    ['more trials', { 'scoring.trials': 2, 'operation.budget': undefined }, `scoring.trials is 2, but the reference run had 1; ${orNone}`],
    ['another screen', { 'scoring.screen': { width: 1280, height: 1080 } }, `scoring.screen.width is 1280, but the reference run had 1920; ${orNone}`],
    ['one model request too few', { 'operation.budget.model_requests': 180_499 }, 'operation.budget.model_requests is 180,499, but 361 tasks x 1 trial x 50 steps x 5 call attempts x 2 attempts may need 180,500; write at least 180500, or lower one of these.'],
    ['a request budget without the tries of a call', { 'operation.model_call_attempts': undefined }, 'operation.model_call_attempts is missing, so the budget of model requests cannot be checked; write how often one request is tried, the first included.'],
    ['the proxy off', { 'scoring.enable_proxy': false }, `scoring.enable_proxy is false, but the reference run had true; ${orNone}`],
    ['another data set', { 'comparison.reference_dataset_commit': otherCommit }, `comparison.reference_dataset_commit is ${otherCommit}, but the public reference has a518b8776c172c9456f85b3fa5ef451d326a7969; write that.`],
    ['another total', { 'comparison.reference_total_tasks': 359 }, 'comparison.reference_total_tasks is 359, but the public reference has 361; write that.'],
    ['another number of scored tasks', { 'comparison.reference_scored_tasks': 358 }, 'comparison.reference_scored_tasks is 358, but the public reference has 359; write that.'],
    ['a score that is off by more than a rounding', { 'comparison.reference_score': '0.367845455582570' }, 'comparison.reference_score is "0.367845455582570", but the public reference has "0.36784545558256826"; write that.'],
    ['a wider band', { 'comparison.absolute_score_delta_lte': '0.031' }, 'comparison.absolute_score_delta_lte is "0.031", but the parity band is "0.03"; write that.'],
  ]

  test.each(cases)('%s', (_, changes, sentence) => {
    expect(sentences(factsOf(parity(changes)))).toEqual([sentence])
  })

  test("a user's own profile of that name", () => {
    expect(sentences(factsOf(parity(), { isBuiltIn: false }))).toEqual(['comparison.mode is public_docker_parity, but profile ui-mopd-qwen3vl-docker is not the one of this project and is unverified; set the mode to none.'])
  })

  test('the profile of today', () => {
    expect(sentences(factsOf(fullSuite({ comparison: parity().comparison })))).toEqual(['comparison.mode is public_docker_parity, but profile current-v1 has no public reference; name ui-mopd-qwen3vl-docker, or set the mode to none.'])
  })
})

test.each<[string, Changes]>([
  ['whole numbers as numbers', { 'scoring.agent.settings.temperature': 0 }],
  ['fractions with more digits', { 'scoring.agent.settings.top_p': '0.90', 'comparison.absolute_score_delta_lte': '0.030' }],
  ["the runner's own argument for coordinates", { 'scoring.agent.settings.coordinate_type': undefined, 'scoring.agent.settings.coord': 'relative' }],
  ['what the runner is always given', { 'scoring.agent.settings.api_backend': 'openai', 'scoring.agent.settings.client_password': 'password' }],
  ['a score within the last digit of a float', { 'comparison.reference_score': '0.3678454555825683' }],
  ['a selection while it is not final', { 'scoring.selection': ['os/1'] }],
])('the parity comparison accepts %s', (_, changes) => {
  expect(sentences(factsOf(parity(changes)))).toEqual([])
})

test('every fault is told at once, each with its rule and its field', () => {
  const faults = checkContract(factsOf(parity({ 'scoring.commit': otherCommit, 'scoring.task_count': 360, 'operation.num_envs': 400, 'scoring.timing': 'settled', 'comparison.reference_total_tasks': 360 })))
  expect(faults.map(({ rule, path }) => [rule, path])).toEqual([
    ['commit_other', 'scoring.commit'],
    ['task_count_other', 'scoring.task_count'],
    ['runner_timing', 'scoring.timing'],
    ['num_envs_too_many', 'operation.num_envs'],
    ['parity_reference', 'comparison.reference_total_tasks'],
  ])
})

test('rules that need the tasks wait until these can be told', () => {
  expect(checkContract(factsOf(fullSuite({ 'operation.num_envs': 5000, 'operation.budget.model_requests': 1 }), { taskCount: undefined }))).toEqual([])
})

test.each<[string, ContractFacts, readonly string[]]>([
  ['nothing of the full suite', factsOf(fullSuite()), []],
  ['that the source match is inferred', factsOf(parity()), ['the source match of profile ui-mopd-qwen3vl-docker is inferred, not authenticated']],
  ["that a profile is a user's own", factsOf(fullSuite(), { isBuiltIn: false }), ["profile current-v1 is not one of this project's and is unverified"]],
  ['that the runner is another', factsOf(fullSuite({ 'scoring.agent.runner': 'run.py' })), ["runner run.py is another than the profile's scripts/python/run_multienv_qwen3vl.py"]],
  ['that it is a selection', factsOf(fullSuite({ 'scoring.domains': ['os'] })), ['a selection of suite all, not the whole of it']],
])('a note tells %s', (_, facts, notes) => {
  expect(contractNotes(facts)).toEqual(notes)
})

