import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { contractFileSchema, parseJsonDocument } from '@osworld-e2b/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { type Console, run } from '../src/commands/run.ts'
import { createSteps } from '../src/run/steps.ts'
import { workspace } from '../src/workspace.ts'

const digest = 'a'.repeat(64)

/** A results folder with a run `r1` of two tasks, whose agent asks a model, and in which nothing was tried yet. */
async function paidRun(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'failed-of-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const source = join(workspace.suites, 'starter')
  const { tasks } = JSON.parse(await readFile(join(source, 'inventory.json'), 'utf8')) as { tasks: { domain: string; id: string; task_sha256: string }[] }
  const scoring = {
    profile: 'package-1.0.2', suite: 'starter', tasks: tasks.slice(0, 2).map(({ domain, id, task_sha256: sha256 }) => ({ domain, id, task_sha256: sha256 })), trials: 1, template: 'osworld:6f1f5a3e-0000-4000-8000-000000000000',
    agent: { kind: 'upstream', name: 'qwen3vl', model: 'm', settings: {} }, max_steps: 5, timing: 'settled', screen: { width: 1920, height: 1080 }, enable_proxy: false, adjustments_sha256: digest,
  }
  const operation = {
    route: { kind: 'local', final: true }, num_envs: 1, max_attempts_per_trial: 1, attempt_timeout_seconds: 60, ready_deadline_seconds: 60, execution_authorized: true, endpoints: [{ label: 'QWEN_BASE_URL' }], source: { kind: 'suite', folder: source },
  }
  const document = {
    schema_version: 2, run_id: 'r1', run_uid: 'b'.repeat(32), created_at: '2026-01-01T00:00:00.000Z', unconfined: false, unverified: false, contract: { path: 'contract.json', scoring_sha256: digest },
    upstream: { name: 'desktop-env', version: '1.0.2', sha256: digest }, runtime: { osworld_e2b: '0.1.0', node: '22.0.0', python: '3.11.7', platform: 'linux x64' },
  }
  await mkdir(join(folder, 'r1'))
  await writeFile(join(folder, 'r1/contract.json'), JSON.stringify({ schema_version: 2, scoring, operation }))
  await writeFile(join(folder, 'r1/run.json'), JSON.stringify(document))
  await writeFile(join(folder, 'r1/attempts.jsonl'), '')
  return folder
}

function testConsole(): Console & { readonly stdout: PassThrough } {
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  const force = () => {
    throw new Error('Nobody interrupts this.')
  }
  return { stdout, stderr, environment: {}, steps: createSteps(stderr), force }
}

test('the failed tasks of a run with a model are run under a contract of their own, which --write-contract writes', async () => {
  const results = await paidRun()
  const file = join(results, 'again.json')
  expect(await run({ results, failedOf: 'r1', writeContract: file, record: true }, testConsole())).toBe(0)
  const { scoring, operation } = parseJsonDocument(contractFileSchema, file, await readFile(file, 'utf8'))
  expect(scoring).toMatchObject({ agent: { kind: 'upstream', name: 'qwen3vl', model: 'm' }, selection: [expect.any(String), expect.any(String)] })
  expect(operation).toMatchObject({ endpoints: [{ label: 'QWEN_BASE_URL' }] })
  expect(operation).not.toMatchObject({ execution_authorized: true })
})

test('without one they are refused with the way to it', async () => {
  const results = await paidRun()
  await expect(run({ results, failedOf: 'r1', record: true }, testConsole())).rejects.toThrow(
    /^This run may cost money, and flags authorize nothing; write the contract that they amount to with --write-contract FILE, review it, and run it with --contract FILE\.$/,
  )
  await expect(run({ results, runId: 'r1', record: true }, testConsole())).rejects.toThrow(/^The earlier run may cost money, so it is resumed only with the contract that authorizes it: give --contract\.$/)
})
