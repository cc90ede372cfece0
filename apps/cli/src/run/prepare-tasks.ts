import { join } from 'node:path'
import { prepareProfile, type Profile, type SetupContext } from '../commands/setup.ts'
import { packageProfile, profileFolder } from '../setup/git-profile.ts'
import { workspace } from '../workspace.ts'
import { readAgentFolder } from './agent-folder.ts'
import { attemptAgentOf } from './agent-of.ts'
import { clientPassword } from './attempts.ts'
import { adjustmentsSha256 } from './contract.ts'
import { type Passed, passPreflight, refuseFlagsAlone } from './gate.ts'
import type { RunOptions } from './options.ts'
import { readPackageAgents } from './package-agents.ts'
import { type PinnedSource, readPinnedSource } from './pinned-source.ts'
import { plannedOfInventory, plannedOfSelection } from './planned.ts'
import { type Selection, selectPinnedTasks, selectTasks, withAgents } from './selection.ts'
import { writeContractFile } from './write-contract.ts'

export interface PreparedTasks {
  /** With the place of the tasks, where that was not known before. */
  readonly options: RunOptions
  readonly passed: Passed
  /** Absent when only preflight was asked for. */
  readonly selection: Selection | undefined
  /** Of a pinned source, whose tree had to be there to read the tasks. */
  readonly profile: Profile | undefined
}

export interface PrepareContext extends SetupContext {
  /** Asked once preflight is passed, before anything is fetched or made. */
  readonly mayExecute: (passed: Passed) => Promise<void>
}

/** Passes the gates and reads the tasks; of a pinned source in this order, so that nothing is fetched for a contract that is refused. */
export async function prepareTasks(options: RunOptions, context: PrepareContext): Promise<PreparedTasks> {
  const source = await readPinnedSource(options)
  if (options.profile !== packageProfile) return preparePinned(options, source, context)
  const [read, module] = [await selectTasks(options), await readAgentFolder(options)]
  const folder = join(workspace.profiles, options.profile)
  const digests = { scriptsSha256: read.scripts?.sha256, agentSha256: module?.sha256, adjustmentsSha256: await adjustmentsSha256(folder) }
  const passed = await announce(await passPreflight({ options, source, planned: plannedOfSelection(read), digests, agents: await readPackageAgents(folder) }), options)
  if (isOnlyPlanned(options)) return { options, passed, selection: undefined, profile: undefined }
  await requirePermission(passed, options, context)
  const selection = withAgents(read, ({ script }) => attemptAgentOf(passed.contract.scoring, { script, agentFolder: module?.folder, agentUrl: options.agentUrl }))
  return { options, passed, selection, profile: undefined }
}

function isOnlyPlanned({ preflightOnly, writeContract }: RunOptions): boolean {
  return preflightOnly || writeContract !== undefined
}

async function announce(passed: Passed, { writeContract: file, ...options }: RunOptions): Promise<Passed> {
  return file === undefined ? passed : { ...passed, announcement: await writeContractFile(passed.contract, { ...options, file }) }
}

async function requirePermission(passed: Passed, options: RunOptions, { mayExecute }: Pick<PrepareContext, 'mayExecute'>): Promise<void> {
  if (!options.dryRun) refuseFlagsAlone(options, passed.contract)
  await mayExecute(passed)
}

async function preparePinned(options: RunOptions, source: PinnedSource, { mayExecute, ...context }: PrepareContext): Promise<PreparedTasks> {
  const planned = plannedOfInventory(source, options)
  const digests = { scriptsSha256: undefined, agentSha256: undefined, adjustmentsSha256: await adjustmentsSha256(await profileFolder(options.profile)) }
  const passed = await announce(await passPreflight({ options, source, planned, digests, agents: undefined }), options)
  if (isOnlyPlanned(options)) return { options, passed, selection: undefined, profile: undefined }
  await requirePermission(passed, options, { mayExecute })
  const { profilesFile, checkout: destination } = options
  const profile = await prepareProfile(options.profile, { ...context, profilesFile, ...(destination === undefined ? {} : { destination }) })
  const inventory = source.inventories.get(planned.suite)
  const { scoring } = passed.contract
  if (profile.source.kind !== 'git' || inventory === undefined || scoring.agent.kind !== 'upstream_runner') throw new Error(`The profile ${options.profile} passed its gates without a tree, an inventory of ${planned.suite} or a runner.`)
  const { checkout, profile: { repository, commit } } = profile.source
  const agent = attemptAgentOf(scoring, { runner: { checkout, source: { repository, commit }, clientPassword } })
  const selection = await selectPinnedTasks({ checkout, planned, inventory, agent })
  return { options: { ...options, source: { kind: 'profile', folder: checkout } }, passed, selection, profile }
}
