import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { attachLocalE2b } from '@osworld-e2b/local-e2b'
import { acquireRunLock, type CampaignResult, openLedger, openRunFolder, runCampaign } from '@osworld-e2b/scheduler'
import { findTemplate, loadRecipe } from '@osworld-e2b/template'
import { type Bubblewrap, checkConfinement } from '@osworld-e2b/upstream'
import type { Connection, Contract, TemplateRef } from '@osworld-e2b/contracts'
import { exitCode, type ExitCode } from '../exit-code.ts'
import { planAttempt } from '../run/attempts.ts'
import { adjustmentsSha256, localContract } from '../run/contract.ts'
import { listenForInterrupts } from '../run/interrupts.ts'
import { parseRunOptions, type RunArguments, type RunOptions } from '../run/options.ts'
import { campaignServices, childEnvironment } from '../run/processes.ts'
import { jsonReporter, lineReporter } from '../run/reporter.ts'
import { resultTable, scoreLine } from '../run/result-table.ts'
import { type Selection, selectTasks } from '../run/selection.ts'
import type { Steps } from '../run/steps.ts'
import { UsageError } from '../usage-error.ts'
import { workspace } from '../workspace.ts'
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
  const selection = await selectTasks(options)
  const bubblewrap = await requireConfinement(console.environment)
  const profile = await prepareProfile(options.profile, console.environment, console.steps)
  const interrupts = listenForInterrupts(
    (name) => console.steps.line(`${name}: stopping; running attempts are ended and the run stays resumable. Once more forces it.`),
    () => console.force(),
  )
  try {
    const server = await attachServer(options, console)
    try {
      return await runOn(server.connection, { options, selection, profile, bubblewrap, console, signal: interrupts.signal })
    } finally {
      await server.close()
    }
  } finally {
    interrupts.dispose()
  }
}

/** Without links in its path, since an attempt sees it under the same path from inside its confinement. */
async function withRunFolder(options: RunOptions): Promise<RunOptions> {
  await mkdir(options.runFolder, { recursive: true })
  return { ...options, runFolder: await realpath(options.runFolder) }
}

interface Prepared {
  readonly options: RunOptions
  readonly selection: Selection
  readonly profile: Profile
  readonly bubblewrap: Bubblewrap
  readonly console: Console
  readonly signal: AbortSignal
}

async function runOn(connection: Connection, prepared: Prepared): Promise<ExitCode> {
  const { selection, profile, console } = prepared
  const template = prepared.options.template ?? (await builtTemplate(connection))
  const options = await withRunFolder(prepared.options)
  const contract = localContract({ options, selection, profile, template, adjustmentsSha256: await adjustmentsSha256(profile.folder) })
  const lock = await acquireRunLock(join(options.runFolder, 'run.lock'), { pid: process.pid, now: new Date() })
  try {
    const result = await campaign(connection, contract, { ...prepared, options })
    console.steps.line(`run folder: ${options.runFolder}`)
    return exitCodeOf(result)
  } finally {
    await lock.release()
  }
}

async function campaign(connection: Connection, contract: Contract, prepared: Prepared): Promise<CampaignResult> {
  const { options, selection, profile, console } = prepared
  const tasks = contract.scoring.tasks
  await openRunFolder({
    path: options.runFolder,
    contract,
    document: {
      run_id: options.runId,
      created_at: new Date().toISOString(),
      upstream: profile.identity,
      runtime: { osworld_e2b: '0.1.0', node: process.versions.node, python: profile.python.version, platform: `${process.platform} ${process.arch}` },
      unconfined: false,
      unverified: false,
    },
  })
  const ledger = await openLedger(join(options.runFolder, 'attempts.jsonl'), () => new Date())
  try {
    const runMetadata = { workload: 'osworld-e2b', run: options.runId }
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
      campaignServices({ bubblewrap: prepared.bubblewrap, runFolder: options.runFolder, profile, connection, environment: console.environment, onEvent: (event) => reporter.take(event) }),
      prepared.signal,
    )
    const text = options.json ? JSON.stringify(result.aggregate) : `${resultTable(tasks, options.trials, ledger.state)}\n${scoreLine(result.aggregate)}`
    console.stdout.write(`${text}\n`)
    return result
  } finally {
    await ledger.close()
  }
}

function exitCodeOf({ isInterrupted, aggregate }: CampaignResult): ExitCode {
  if (aggregate.complete) return exitCode.complete
  return isInterrupted ? exitCode.interrupted : exitCode.incomplete
}

function attachServer(options: RunOptions, { steps, environment }: Console) {
  return steps.step('Local E2B server', () =>
    attachLocalE2b({
      dataFolder: options.dataFolder,
      serverCommand: [process.execPath, workspace.localServerMain, 'serve', '--data', options.dataFolder, '--die-with-parent'],
      environment: childEnvironment(environment),
    }),
  )
}

async function requireConfinement(environment: NodeJS.ProcessEnv): Promise<Bubblewrap> {
  const check = await checkConfinement({ environment })
  if (check.kind === 'refused') throw new UsageError(check.reason)
  return check.bubblewrap
}

async function builtTemplate(connection: Connection): Promise<TemplateRef> {
  const recipe = await loadRecipe(workspace.templateFolder, 'debian-12')
  const found = await findTemplate({ recipe, connection })
  if (found !== undefined) return found
  throw new UsageError('The desktop template is not built yet; run `npx nx run template-builder:build` once, or give --template name:build_id.')
}
