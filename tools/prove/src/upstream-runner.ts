import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { execa } from 'execa'
import { contractFileSchema, type GitProfile, parseDocument } from '@osworld-e2b/contracts'
import { authorizedPart } from '@osworld-e2b/gates'
import { canonicalJson, inventoryOfTree, sha256Hex, writeJsonAtomic } from '@osworld-e2b/inventory'
import { parseScript, type ScriptInput, startScriptedEndpoint } from '@osworld-e2b/scripted-endpoint'
import type { ProofPlaces, RunsProof } from './proof.ts'
import { ProveError } from './prove-error.ts'
import type { RunPlan } from './run-osworld.ts'

export const upstreamRunner: RunsProof = {
  name: 'upstream-runner',
  claim: "The unmodified Qwen3-VL runner script of a public OSWorld tree (OSWORLD_FORK_DIR) scores two of OSWorld's own tasks 1 when its model types the command that solves them, and 0 when the model only says that it is done.",
  plan,
}

const suite = 'nogdrive'
const runner = 'scripts/python/run_multienv_qwen3vl.py'
/** Tasks that need no network, with the command that solves each. */
const commands = {
  'os/e0df059f-28a6-4169-924f-b9623e7184cc': 'mv ~/Desktop/todo_list_Jan_1 ~/Desktop/todo_list_Jan_2',
  'os/f9be0997-4b7c-45c5-b05c-4612b44a6118': 'gsettings set org.gnome.desktop.notifications show-banners false',
} as const
const words = { 'todo_list_Jan_1': commands['os/e0df059f-28a6-4169-924f-b9623e7184cc'], 'notifications to bother me': commands['os/f9be0997-4b7c-45c5-b05c-4612b44a6118'] } as const

async function plan(places: ProofPlaces): Promise<readonly RunPlan[]> {
  const { results, environment } = places
  const tree = environment['OSWORLD_FORK_DIR']
  if (tree === undefined || tree === '') throw new ProveError('usage', 'upstream-runner needs a git checkout of a public OSWorld tree; set OSWORLD_FORK_DIR to its folder.')
  const source = await pinTree(resolve(tree), results)
  return [
    await runPlan({ name: 'solved by typing', expectedReward: 1, label: 'OSWORLD_PROOF_TYPING', tasks: typing }, source, places),
    await runPlan({ name: 'done at once', expectedReward: 0, label: 'OSWORLD_PROOF_DONE', tasks: [] }, source, places),
  ]
}

/** In thousandths of the screen, as the agent counts. */
const terminalInDock = [18, 562] as const

/** Opens a terminal, types the command of the task that the request is about, and waits for it. */
const typing: ScriptInput['tasks'] = Object.entries(words).map(([match, command]) => ({
  match,
  steps: [
    { action: 'left_click', arguments: { coordinate: terminalInDock } },
    { action: 'wait', arguments: { time: 3 } },
    { action: 'wait', arguments: { time: 3 } },
    { action: 'type', arguments: { text: command } },
    { action: 'key', arguments: { keys: ['enter'] } },
    { action: 'wait', arguments: { time: 2 } },
  ],
}))

interface PinnedTree {
  readonly profilesFile: string
  readonly commit: string
  readonly taskCount: number
  readonly inventorySha256: string
}

/** A profiles file that pins the tree's commit, with its inventory. */
async function pinTree(tree: string, results: string): Promise<PinnedTree> {
  const { stdout: commit } = await execa('git', ['-C', tree, 'rev-parse', 'HEAD'])
  const inventoryPath = `inventories/${suite}.json`
  const profile: GitProfile = {
    repository: `file://${tree}`,
    commit,
    runner,
    source_commit_provenance: 'inferred_from_run_date',
    suites: { [suite]: { inventory: inventoryPath, upstream_manifest: `evaluation_examples/test_${suite}.json` } },
  }
  const profilesFile = join(results, 'profiles.json')
  const inventory = await inventoryOfTree({ tree, name: 'fork', profile, suite })
  await mkdir(dirname(join(results, inventoryPath)), { recursive: true })
  await writeJsonAtomic(join(results, inventoryPath), inventory)
  await writeJsonAtomic(profilesFile, { schema_version: 1, default_profile: 'fork', profiles: { fork: profile } })
  return { profilesFile, commit, taskCount: inventory.task_count, inventorySha256: inventory.inventory_sha256 }
}

interface ScriptedRun {
  readonly name: string
  readonly expectedReward: 0 | 1
  /** Environment variable that holds the endpoint's address. */
  readonly label: string
  readonly tasks: ScriptInput['tasks']
}

async function runPlan({ name, expectedReward, label, tasks }: ScriptedRun, source: PinnedTree, { results, environment, atEnd }: ProofPlaces): Promise<RunPlan> {
  const endpoint = await startScriptedEndpoint({ script: parseScript({ schema_version: 1, tasks }, 'The script of this proof') })
  atEnd(() => endpoint.close())
  environment[label] = `${endpoint.url}/v1`
  const contract = parseDocument(contractFileSchema, 'the contract', {
    schema_version: 2,
    scoring: {
      profile: 'fork',
      suite,
      commit: source.commit,
      task_count: source.taskCount,
      inventory_sha256: source.inventorySha256,
      selection: Object.keys(commands),
      agent: { kind: 'upstream_runner', runner, model: 'scripted', settings: { action_space: 'pyautogui', coordinate_type: 'relative', observation_type: 'screenshot' } },
      max_steps: 8,
      timing: 'upstream',
    },
    operation: {
      route: { kind: 'local', final: true },
      num_envs: 2,
      max_attempts_per_trial: 1,
      attempt_timeout_seconds: 900,
      endpoints: [{ label }],
      model_call_attempts: 1,
    },
  })
  const authorization = { contract_sha256: sha256Hex(canonicalJson(authorizedPart(contract))) }
  const file = join(results, `${label.toLowerCase()}.json`)
  await writeFile(file, JSON.stringify({ ...contract, operation: { ...contract.operation, execution_authorized: true, authorization } }))
  return { name, expectedReward, numEnvs: 2, args: ['--contract', file, '--profiles', source.profilesFile, '--checkout', join(results, 'osworld')] }
}
