import { mkdir, realpath } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { acquireRunLock, type CampaignResult, makeRunTemporaryFolder, refuseHeldLock, SchedulerError } from '@osworld-e2b/scheduler'
import { type Bubblewrap, checkConfinement } from '@osworld-e2b/upstream'
import { exitCode, type ExitCode } from '../exit-code.ts'
import { requireEndpoints } from '../run/ask-endpoints.ts'
import { profileFolder } from '../setup/git-profile.ts'
import type { RunArguments } from '../run/arguments.ts'
import type { Machine } from '../run/capacity.ts'
import { loadContractFile } from '../contract/load-contract-file.ts'
import { adjustmentsSha256, resolveContract } from '../run/contract.ts'
import { dryRun } from '../run/dry-run.ts'
import { placesOf, requireFreeSpace } from '../run/free-space.ts'
import { type Passed, printPreflight, refuseUnauthorizedRepeat, requireExecution } from '../run/gate.ts'
import { findExpectedSeconds } from '../run/expected-seconds.ts'
import { listenForInterrupts } from '../run/interrupts.ts'
import { linkFree } from '../run/link-free.ts'
import { parseRunOptions, type RunOptions } from '../run/options.ts'
import { loadPrices } from '../run/prices.ts'
import { prepareTasks } from '../run/prepare-tasks.ts'
import { carryOut, type Prepared } from '../run/carry-out.ts'
import { findRecorded } from '../run/recorded.ts'
import { openRoute } from '../run/route.ts'
import { requireAssets } from '../run/require-assets.ts'
import { requireSameScorer } from '../run/scorer-identity.ts'
import type { Server } from '../run/server.ts'
import type { Steps } from '../run/steps.ts'
import { resolveTemplate } from '../run/template.ts'
import { UsageError } from '../usage-error.ts'
import { prepareProfile } from './setup.ts'

export interface Console {
  readonly steps: Steps
  readonly environment: NodeJS.ProcessEnv
  readonly stdout: NodeJS.WritableStream
  readonly stderr: NodeJS.WritableStream
  /** Ends this process at once, after a second interrupt. */
  force(): never
}

/** `osworld run`: one campaign on local sandboxes, from the checked arguments to the result table. */
export async function run(given: RunArguments, console: Console): Promise<ExitCode> {
  const interrupts = listenForInterrupts({
    onInterrupt: given.onInterrupt === 'drain' ? 'drain' : 'cancel',
    drainText: 'running attempts finish and nothing more is started; once more ends them.',
    stopText: 'running attempts are ended and the run stays resumable; once more forces it.',
    line: (text) => console.steps.line(text),
    force: () => console.force(),
  })
  try {
    const recorded = await findRecorded(given)
    const contract = given.contract === undefined ? undefined : await loadContractFile(given.contract)
    refuseUnauthorizedRepeat(recorded, contract)
    const options = parseRunOptions(given, { environment: console.environment, now: new Date(), machine: thisMachine(), recorded, contract, prices: await loadPrices(given.prices) })
    const expectedSeconds = await findExpectedSeconds(given.orderBy, given.results)
    return await prepareAndRun(options, { console, interrupts, expectedSeconds })
  } catch (error) {
    if (!interrupts.signal.aborted) throw error
    // Whatever a stop breaks off in mid-preparation is the stop; what could not be recorded must be known.
    if (error instanceof SchedulerError && error.code === 'run_unwritable') console.steps.line(error.message)
    return exitCode.interrupted
  } finally {
    interrupts.dispose()
  }
}

function thisMachine(): Machine {
  return { cores: availableParallelism(), availableBytes: process.availableMemory() }
}

type Started = Pick<Prepared, 'console' | 'interrupts' | 'expectedSeconds'>

async function prepareAndRun(options: RunOptions, started: Started): Promise<ExitCode> {
  const { console, interrupts: { signal } } = started
  const { steps, environment, stdout } = console
  if (!options.preflightOnly) await refuseHeldLock(lockFile(options))
  const mayExecute = async ({ contract }: Passed): Promise<void> => {
    if (options.dryRun) return
    requireExecution({ contract, prices: options.prices, agentUrl: options.agentUrl, environment, now: new Date() })
    await requireEndpoints(contract, environment)
  }
  const prepared = await prepareTasks(options, { environment, steps, signal, mayExecute })
  const { selection, passed } = prepared
  if (selection === undefined) return printPreflight(passed, stdout)
  await requireAssets(options, selection)
  await requireFreeSpace(placesOf({ ...options, numEnvs: options.numEnvs.count }))
  const bubblewrap = await requireConfinement(environment)
  if (options.dryRun) {
    await dryRun({ options: prepared.options, selection, passed, profileFolder: await profileFolder(options.profile), environment, signal }, stdout)
    return exitCode.complete
  }
  const profile = prepared.profile ?? (await prepareProfile(options.profile, { environment, steps, signal }))
  await requireSameScorer(profile)
  const server = await steps.step(options.route.kind === 'local' ? 'Local E2B server' : 'Way to the sandboxes', () => openRoute(options, environment, signal))
  try {
    return await runOn(server, { options: prepared.options, selection, passed, profile, bubblewrap, ...started, signal: AbortSignal.any([signal, server.lost]) })
  } finally {
    await server.close()
  }
}

async function runOn({ connection, lost }: Server, prepared: Prepared): Promise<ExitCode> {
  const { selection, passed, profile, console, signal } = prepared
  const template = await resolveTemplate(prepared.options.template, connection)
  signal.throwIfAborted()
  const options = await linkFree(await withRunFolder(prepared.options))
  const contract = resolveContract({ options, written: passed.contract, selection, template, adjustmentsSha256: await adjustmentsSha256(profile.folder) })
  const lock = await acquireRunLock(lockFile(options), { pid: process.pid, now: new Date() })
  try {
    console.steps.line(options.numEnvs.note)
    const result = await inTemporaryFolder((temporaryFolder) => carryOut({ ...prepared, connection, contract, options, temporaryFolder }))
    if (lost.aborted) console.steps.line(String(lost.reason instanceof Error ? lost.reason.message : lost.reason))
    console.steps.line(`run folder: ${options.runFolder}`)
    return exitCodeOf(result, lost.aborted)
  } finally {
    await lock.release()
  }
}

async function inTemporaryFolder<Value>(work: (path: string) => Promise<Value>): Promise<Value> {
  const temporary = await makeRunTemporaryFolder(tmpdir(), process.pid)
  try {
    return await work(temporary.path)
  } finally {
    await temporary.remove()
  }
}

function lockFile({ runFolder }: RunOptions): string {
  return join(runFolder, 'run.lock')
}

/** Without links in its path, since an attempt sees it under the same path from inside its confinement. */
async function withRunFolder(options: RunOptions): Promise<RunOptions> {
  try {
    await mkdir(options.runFolder, { recursive: true })
  } catch (error) {
    throw new UsageError(`The run folder ${options.runFolder} cannot be made (${error instanceof Error ? error.message : String(error)}); name another place with --results.`, { cause: error })
  }
  return { ...options, runFolder: await realpath(options.runFolder) }
}

function exitCodeOf({ reason, aggregate }: CampaignResult, isServerLost: boolean): ExitCode {
  if (aggregate.complete) return exitCode.complete
  if (reason === 'budget') return exitCode.budget
  return (reason === 'interrupted' && !isServerLost) || reason === 'drained' ? exitCode.interrupted : exitCode.incomplete
}

async function requireConfinement(environment: NodeJS.ProcessEnv): Promise<Bubblewrap> {
  const check = await checkConfinement({ environment })
  if (check.kind === 'refused') throw new UsageError(check.reason)
  return check.bubblewrap
}
