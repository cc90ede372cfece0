import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Contract, modelCallSchema } from '@osworld-e2b/contracts'
import { main, readAggregate, readLedger, temporaryResults, workspaceRoot } from './osworld.ts'

const typed = 'os/find-parcel-in-terminal'
const nonsense = 'os/add-bread-to-shopping-list'
const unanswered = 'os/swap-mouse-buttons'
const key = 'the-key-of-the-model-endpoint'

/** Types the command in one task, says nonsense in the next, and fails every call of the third. */
const script = {
  schema_version: 1,
  tasks: [
    {
      match: 'parcel KX-93',
      steps: [
        { action: 'type', arguments: { text: 'grep KX-93 Documents/parcels.txt' } },
        { action: 'key', arguments: { keys: ['enter'] } },
        { action: 'terminate', arguments: { status: 'success' } },
      ],
    },
    { match: 'shopping list', steps: [{ text: 'The desktop is blue, is it not?' }] },
    { match: 'mouse with my left', steps: [{ fault: 'status', status: 503, times: 1_000 }] },
  ],
}

let results: Awaited<ReturnType<typeof temporaryResults>>
let endpoint: ChildProcess
let address = ''
beforeAll(async () => {
  results = await temporaryResults()
  const file = join(results.path, 'script.json')
  await writeFile(file, JSON.stringify(script))
  endpoint = spawn(process.execPath, [join(workspaceRoot, 'tools/scripted-endpoint/dist/main.js'), '--script', file, '--json'], { stdio: ['ignore', 'pipe', 'inherit'] })
  if (endpoint.stdout === null) throw new Error('The scripted endpoint has no output.')
  const lines = createInterface({ input: endpoint.stdout })
  address = await new Promise((resolve) => {
    lines.once('line', (line) => resolve((JSON.parse(line) as { openai_base_url: string }).openai_base_url))
  })
})
afterAll(async () => {
  endpoint.kill()
  await results.remove()
})

interface End {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

function osworld(args: readonly string[]): Promise<End> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [main, 'run', '--results', results.path, ...args], { cwd: workspaceRoot, env: { ...process.env, MODEL_URL: address, MODEL_KEY: key } }, (_error, stdout, stderr) =>
      resolve({ exitCode: child.exitCode ?? -1, stdout, stderr }),
    )
  })
}

/** As a user would: the flags' contract is written, reviewed, and authorized by its digest. */
async function authorizedContract(flags: readonly string[]): Promise<string> {
  const file = join(results.path, 'contract.json')
  const { stdout, stderr } = await osworld([...flags, '--write-contract', file])
  const digest = /[0-9a-f]{64}/.exec(stdout + stderr)?.[0]
  const written = JSON.parse(await readFile(file, 'utf8')) as Contract
  const operation = { ...written.operation, route: { kind: 'local', final: true }, execution_authorized: true, authorization: { contract_sha256: digest } }
  await writeFile(file, JSON.stringify({ ...written, operation }))
  return file
}

test("OSWorld's Qwen3-VL agent by name: what it does scores, its nonsense is a zero, and a model that fails gives no score", async () => {
  const contract = await authorizedContract([
    ...['--agent', 'qwen3vl', '--model', 'scripted', '--endpoint', 'MODEL_URL', '--endpoint-key', 'MODEL_URL=MODEL_KEY', '--model-call-attempts', '2'],
    ...['--suite', 'starter', '--task', typed, '--task', nonsense, '--task', unanswered, '--num-envs', '2', '--max-steps', '4', '--max-attempts', '1'],
  ])
  const { exitCode, stdout, stderr } = await osworld(['--contract', contract, '--run-id', 'qwen', '--no-record'])
  const runFolder = join(results.path, 'qwen')
  expect(stdout + stderr).toContain('coverage 0.6667 (2 valid)')
  expect(exitCode).toBe(1)
  const ends = (await readLedger(runFolder)).filter((event) => event.event === 'TERMINAL')
  const endOf = (task: string) => ends.find(({ domain, task_id: id }) => `${domain}/${id}` === task)
  expect(endOf(typed)).toMatchObject({ outcome: { kind: 'valid', reward: 1 }, model: { calls: 3, failed_calls: 0, endpoints: ['MODEL_URL'] } })
  expect(endOf(nonsense)).toMatchObject({ outcome: { kind: 'valid', reward: 0 }, model: { failed_calls: 0 } })
  expect(endOf(unanswered)?.outcome).toMatchObject({ kind: 'invalid', reason: 'model_unavailable', message: expect.stringContaining('The model endpoint MODEL_URL failed a call') as string })
  expect(await readAggregate(runFolder)).toMatchObject({ valid_tasks: 2, invalid_by_reason: { model_unavailable: 1 }, used: { model_usd: null } })
  const calls = (await readFile(join(runFolder, `attempts/${typed}/1.1/model-calls.jsonl`), 'utf8')).trim().split('\n').map((line) => modelCallSchema.parse(JSON.parse(line)))
  expect(calls.map(({ outcome, endpoint: label, tries }) => ({ outcome, label, tries }))).toEqual(Array.from({ length: 3 }, () => ({ outcome: 'answered', label: 'MODEL_URL', tries: 1 })))
  const verified = await promisify(execFile)(process.execPath, [main, 'verify', 'qwen', '--results', results.path], { cwd: workspaceRoot, env: { ...process.env, MODEL_KEY: key } })
  expect(verified.stdout).toContain('no fault')
})
