import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Contract, contractSchema, type Outcome, type Route } from '@osworld-e2b/contracts'
import { catalogArtifacts, sha256File, sha256Hex, writeJsonAtomic } from '@osworld-e2b/inventory'
import { type AttemptIdentity, type CampaignServices, openLedger, openRunFolder, runCampaign, systemClock } from '@osworld-e2b/scheduler'
import { onTestFinished } from 'vitest'

const sha = 'b'.repeat(64)
const taskText = (id: string) => `{"id": "${id}"}`
/** Begins as a PNG does, and has a zero byte early on. */
export const picture = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 1, 2, 3, 4])

export interface RecordedRun {
  /** Where run folders are kept. */
  readonly results: string
  readonly runId: string
  readonly folder: string
  readonly runUid: string
  readonly contract: Contract
  at(path: string): string
}

export interface RecordedRunOptions {
  readonly route?: Route
  readonly endpoints?: Contract['operation']['endpoints']
  /** Of the coordinator in `RUN_STARTED`. */
  readonly pid?: number
  readonly host?: string
}

/**
 * A run by the scheduler itself, with attempts that only write evidence: `os/sort` is lost once and then solved, `vlc/play` is not
 * solved, which is a valid zero.
 */
export async function makeRecordedRun(options: RecordedRunOptions = {}): Promise<RecordedRun> {
  const results = await realpath(await mkdtemp(join(tmpdir(), 'recorded-run-')))
  onTestFinished(() => rm(results, { recursive: true, force: true }))
  const run: RecordedRun = { results, runId: 'one', folder: join(results, 'one'), runUid: sha256Hex(results).slice(0, 32), contract: contractOf(options), at: (path) => join(results, 'one', path) }
  await startRun(run, options)
  return run
}

/** Starts the run, or starts it once more. */
export async function startRun(run: RecordedRun, { pid = process.pid, host = 'test' }: RecordedRunOptions = {}): Promise<void> {
  const { folder, contract, runId } = run
  const labels = { unconfined: false, unverified: false }
  await openRunFolder({ path: folder, contract, document: { run_id: runId, run_uid: run.runUid, created_at: '2026-01-01T00:00:00.000Z', upstream: { name: 'desktop-env', version: '1', sha256: sha }, runtime: { osworld_e2b: '0', node: '20', python: '3.11', platform: 'linux' }, ...labels } })
  const ledger = await openLedger(join(folder, 'attempts.jsonl'), () => new Date())
  const services: CampaignServices = {
    clock: systemClock,
    runAttempt: (identity) => runAttempt(folder, identity),
    closeLeftover: async (identity) => closed(join(folder, identity.attemptDir)),
    listSandboxes: () => Promise.resolve([]),
    killSandbox: () => Promise.resolve(),
    writeAggregate: (aggregate) => writeJsonAtomic(join(folder, 'aggregate.json'), aggregate),
    onEvent: () => undefined,
    owner: { pid, host },
  }
  await runCampaign({ runId, contract, ledger, labels, backOff: { firstMs: 1, mostMs: 1 } }, services, new AbortController().signal)
  await ledger.close()
}

function contractOf({ route = 'local', endpoints }: RecordedRunOptions): Contract {
  return contractSchema.parse({
    schema_version: 2,
    scoring: {
      profile: 'p',
      suite: 's',
      tasks: [{ domain: 'os', id: 'sort', task_sha256: sha256Hex(taskText('sort')) }, { domain: 'vlc', id: 'play', task_sha256: sha256Hex(taskText('play')) }],
      trials: 1,
      template: 'base:6f1f5a3e-0000-4000-8000-000000000000',
      agent: { kind: 'none' },
      max_steps: 5,
      timing: 'settled',
      screen: { width: 1920, height: 1080 },
      enable_proxy: false,
      adjustments_sha256: sha,
    },
    operation: { route: { kind: route, final: false }, num_envs: 2, max_attempts_per_trial: 3, attempt_timeout_seconds: 60, ready_deadline_seconds: 60, execution_authorized: false, ...(endpoints === undefined ? {} : { endpoints }) },
  })
}

async function runAttempt(folder: string, { attemptDir, id, attempt }: AttemptIdentity) {
  const isLost = id === 'sort' && attempt === 1
  const reward = id === 'sort' ? 1 : 0
  const outcome: Outcome = isLost ? { kind: 'invalid', reason: 'guest_lost', message: 'gone' } : { kind: 'valid', reward }
  const files: Record<string, string | Buffer> = { 'task.json': taskText(id), 'stdout.log': 'noise\n', 'screenshots/step_1.png': picture, ...(isLost ? {} : { 'result.txt': `${reward}.0\n` }) }
  for (const [path, content] of Object.entries(files)) await put(join(folder, attemptDir, path), content)
  return { outcome, cleanup: 'success' as const, seconds: 1, steps: 1, ...(await closed(join(folder, attemptDir))) }
}

/** Closes evidence as the scheduler does; gives its catalog's digest. */
export async function closed(attemptFolder: string): Promise<{ readonly catalogSha256: string }> {
  await writeJsonAtomic(join(attemptFolder, 'artifacts.json'), { schema_version: 1, artifacts: await catalogArtifacts(attemptFolder) })
  return { catalogSha256: await sha256File(join(attemptFolder, 'artifacts.json')) }
}

export async function put(path: string, content: string | Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, content)
}
