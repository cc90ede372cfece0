import { randomBytes } from 'node:crypto'
import { mkdir, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Connection, Contract } from '@osworld-e2b/contracts'
import { acquireRunLock, type CampaignResult, makeRunTemporaryFolder, openLedger, openRunFolder, runCampaign } from '@osworld-e2b/scheduler'
import { type Bubblewrap, checkConfinement } from '@osworld-e2b/upstream'
import { exitCode, type ExitCode } from '../exit-code.ts'
import { planAttempt } from '../run/attempts.ts'
import { adjustmentsSha256, localContract } from '../run/contract.ts'
import { listenForInterrupts } from '../run/interrupts.ts'
import { parseRunOptions, type RunArguments, type RunOptions } from '../run/options.ts'
import { campaignServices } from '../run/processes.ts'
import { jsonReporter, lineReporter } from '../run/reporter.ts'
import { resultTable, scoreLine } from '../run/result-table.ts'
import { type Selection, selectTasks } from '../run/selection.ts'
import { attachServer, type Server } from '../run/server.ts'
import type { Steps } from '../run/steps.ts'
import { resolveTemplate } from '../run/template.ts'
import { UsageError } from '../usage-error.ts'
import { type Profile, prepareProfile } from './setup.ts'

export interface Console {
  readonly steps: Steps
  readonly environment: NodeJS.ProcessEnv
  readonly stdout: NodeJS.WritableStream
  /** Ends this process at once, after a second interrupt. */
  force(): never
}

/** `osworld run`: one campaign on local sandboxes, from the checked arguments to the result table. */
export async function run(given: RunArguments, console: Console): Promise<ExitCode> {
  const options = parseRunOptions(given, console.environment, new Date())
  const interrupts = listenForInterrupts(
    (name) => console.steps.line(`${name}: stopping; running attempts are ended and the run stays resumable. Once more forces it.`),
    () => console.force(),
  )
  try {
    return await prepareAndRun(options, console, interrupts.signal)
  } catch (error) {
    // Whatever a stop breaks off in mid-preparation is the stop.
    if (interrupts.signal.aborted) return exitCode.interrupted
    throw error
  } finally {
    interrupts.dispose()
  }
}

async function prepareAndRun(options: RunOptions, console: Console, signal: AbortSignal): Promise<ExitCode> {
  const { steps, environment } = console
  const selection = await selectTasks(options)
  const bubblewrap = await requireConfinement(environment)
  const profile = await prepareProfile(options.profile, { environment, steps, signal })
  const server = await steps.step('Local E2B server', () => attachServer(options, environment, signal))
  try {
    return await runOn(server, { options, selection, profile, bubblewrap, console, signal: AbortSignal.any([signal, server.lost]) })
  } finally {
    await server.close()
  }
}

interface Prepared {
  readonly options: RunOptions
  readonly selection: Selection
  readonly profile: Profile
  readonly bubblewrap: Bubblewrap
  readonly console: Console
  readonly signal: AbortSignal
}

async function runOn({ connection, lost }: Server, prepared: Prepared): Promise<ExitCode> {
  const { selection, profile, console, signal } = prepared
  const template = await resolveTemplate(prepared.options.template, connection)
  signal.throwIfAborted()
  const options = await withRunFolder(prepared.options)
  const contract = localContract({ options, selection, profile, template, adjustmentsSha256: await adjustmentsSha256(profile.folder) })
  const lock = await acquireRunLock(join(options.runFolder, 'run.lock'), { pid: process.pid, now: new Date() })
  const temporary = await makeRunTemporaryFolder(tmpdir(), process.pid)
  try {
    const result = await campaign(connection, contract, { ...prepared, options, temporaryFolder: temporary.path })
    if (lost.aborted) console.steps.line(String(lost.reason instanceof Error ? lost.reason.message : lost.reason))
    console.steps.line(`run folder: ${options.runFolder}`)
    return exitCodeOf(result, lost.aborted)
  } finally {
    await temporary.remove()
    await lock.release()
  }
}

/** Without links in its path, since an attempt sees it under the same path from inside its confinement. */
async function withRunFolder(options: RunOptions): Promise<RunOptions> {
  await mkdir(options.runFolder, { recursive: true })
  return { ...options, runFolder: await realpath(options.runFolder) }
}

async function campaign(connection: Connection, contract: Contract, prepared: Prepared & { readonly temporaryFolder: string }): Promise<CampaignResult> {
  const { options, selection, profile, console, bubblewrap, temporaryFolder } = prepared
  const tasks = contract.scoring.tasks
  const { document } = await openRunFolder({
    path: options.runFolder,
    contract,
    document: {
      run_id: options.runId,
      run_uid: randomBytes(16).toString('hex'),
      created_at: new Date().toISOString(),
      upstream: profile.identity,
      runtime: { osworld_e2b: '0.1.0', node: process.versions.node, python: profile.python.version, platform: `${process.platform} ${process.arch}` },
      unconfined: false,
      unverified: false,
    },
  })
  const ledger = await openLedger(join(options.runFolder, 'attempts.jsonl'), () => new Date())
  try {
    const runMetadata = { workload: 'osworld-e2b', run: options.runId, run_uid: document.run_uid }
    const reporter = options.json ? jsonReporter(console.stdout) : lineReporter(process.stderr, tasks.length * options.trials)
    const planner = { options, contract, connection, tasks: selection.tasks, profileFolder: profile.folder, runMetadata }
    const result = await runCampaign(
      {
        runId: options.runId,
        runFolder: options.runFolder,
        contract,
        ledger,
        labels: { unconfined: false, unverified: false },
        planAttempt: (identity, folder) => planAttempt(planner, identity, folder),
        runMetadata,
      },
      campaignServices({ bubblewrap, temporaryFolder, runFolder: options.runFolder, profile, connection, environment: console.environment, onEvent: (event) => reporter.take(event) }),
      prepared.signal,
    )
    const text = options.json ? JSON.stringify(result.aggregate) : `${resultTable(tasks, options.trials, ledger.state)}\n${scoreLine(result.aggregate)}`
    console.stdout.write(`${text}\n`)
    return result
  } finally {
    await ledger.close()
  }
}

function exitCodeOf({ isInterrupted, aggregate }: CampaignResult, isServerLost: boolean): ExitCode {
  if (aggregate.complete) return exitCode.complete
  return isInterrupted && !isServerLost ? exitCode.interrupted : exitCode.incomplete
}

async function requireConfinement(environment: NodeJS.ProcessEnv): Promise<Bubblewrap> {
  const check = await checkConfinement({ environment })
  if (check.kind === 'refused') throw new UsageError(check.reason)
  return check.bubblewrap
}
