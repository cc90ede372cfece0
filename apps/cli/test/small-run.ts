import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LedgerEvent, Outcome } from '@osworld-e2b/contracts'
import { canonicalJson, sha256Hex } from '@osworld-e2b/inventory'

/** A results folder with one run `r1` of four tasks in two domains, as its coordinator leaves it before its first attempt. */
export interface SmallRun {
  readonly results: string
  readonly runFolder: string
  /** Appends events to its ledger. */
  record(...events: readonly LedgerEvent[]): Promise<void>
  remove(): Promise<void>
}

export const runStarted = '2026-01-01T00:00:00.000Z'

export async function makeSmallRun({ trials = 1, route = 'local' }: { readonly trials?: number; readonly route?: 'local' | 'e2b' } = {}): Promise<SmallRun> {
  const results = await mkdtemp(join(tmpdir(), 'small-run-'))
  const runFolder = join(results, 'r1')
  await mkdir(runFolder)
  const digest = 'a'.repeat(64)
  const tasks = [['os', 'a'], ['os', 'b'], ['chrome', 'c'], ['chrome', 'd']].map(([domain, id]) => ({ domain, id, task_sha256: digest }))
  const scoring = {
    profile: 'package-1.0.2', suite: 'starter', tasks, trials, template: 'osworld:6f1f5a3e-0000-4000-8000-000000000000', agent: { kind: 'none' },
    max_steps: 5, timing: 'settled', screen: { width: 1920, height: 1080 }, enable_proxy: false, adjustments_sha256: digest,
  }
  const operation = { route: { kind: route, final: route !== 'local' }, num_envs: 1, max_attempts_per_trial: 1, attempt_timeout_seconds: 60, ready_deadline_seconds: 60, execution_authorized: false }
  const document = {
    schema_version: 2, run_id: 'r1', run_uid: 'b'.repeat(32), created_at: runStarted, unconfined: false, unverified: false,
    contract: { path: 'contract.json', scoring_sha256: sha256Hex(canonicalJson(scoring)) },
    upstream: { name: 'desktop-env', version: '1.0.2', sha256: digest },
    runtime: { osworld_e2b: '0.1.0', node: '22.0.0', python: '3.11.7', platform: 'linux x64' },
  }
  await writeFile(join(runFolder, 'contract.json'), JSON.stringify({ schema_version: 2, scoring, operation }))
  await writeFile(join(runFolder, 'run.json'), JSON.stringify(document))
  const ledger = join(runFolder, 'attempts.jsonl')
  const record = (...events: readonly LedgerEvent[]) => writeFile(ledger, events.map((event) => `${JSON.stringify(event)}\n`).join(''), { flag: 'a' })
  await record({ event: 'RUN_STARTED', timestamp: runStarted, pid: 1, host: 'box' })
  return { results, runFolder, record, remove: () => rm(results, { recursive: true, force: true }) }
}

/** `domain/id#trial.attempt`, such as `os/a#1.1`. */
export function attemptEvents(name: string, outcome?: Outcome): readonly LedgerEvent[] {
  const [, domain = '', id = '', trial = '1', attempt = '1'] = /^(\w+)\/(\w+)#(\d+)\.(\d+)$/.exec(name) ?? []
  const key = { domain, task_id: id, trial: Number(trial), attempt: Number(attempt), timestamp: '2026-01-01T00:01:00.000Z' }
  const begun: LedgerEvent[] = [
    { event: 'PLANNED', ...key, attempt_dir: `attempts/${domain}/${id}/${trial}.${attempt}` },
    { event: 'STARTED', ...key, pid: 1, pid_start: '1' },
  ]
  return outcome === undefined ? begun : [...begun, { event: 'TERMINAL', ...key, outcome, cleanup: 'success', seconds: 12.5, steps: 3 }]
}

/** The number of a process that has ended. */
export async function endedProcess(): Promise<number> {
  const child = spawn('true')
  await once(child, 'exit')
  return child.pid ?? 0
}
