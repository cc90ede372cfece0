import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type ContractFile, type DoctorCheck, DocumentError, type OsworldTask, type PriceTable } from '@osworld-e2b/contracts'
import type { PackageAgents } from '@osworld-e2b/gates'
import { InventoryError, provenanceSentence } from '@osworld-e2b/inventory'
import { loadTasks, UpstreamError } from '@osworld-e2b/upstream'
import { loadContractFile } from '../contract/load-contract-file.ts'
import { passPreflight, RefusedError } from '../run/gate.ts'
import { parseRunOptions, type RunOptions } from '../run/options.ts'
import { readPackageAgents } from '../run/package-agents.ts'
import { type PinnedSource, readPinnedSource } from '../run/pinned-source.ts'
import { type Planned, plannedOfInventory, plannedOfSelection } from '../run/planned.ts'
import { selectTasks } from '../run/selection.ts'
import { packageProfile } from '../setup/git-profile.ts'
import { UsageError } from '../usage-error.ts'
import { cacheFolder, workspace } from '../workspace.ts'
import { type DoctorArguments, refuseWithoutContract } from './arguments.ts'
import { advised, required } from './check.ts'

/** No line of doctor's is about what a model costs. */
const noPrices: PriceTable = { schema_version: 1, models: {} }

/** What `--contract` asks for. */
export interface Campaign {
  /** As written, but with as many attempts at a time as were asked for. */
  readonly contract: ContractFile
  readonly options: RunOptions
  /** Of the folder of all runs. */
  readonly resultsFolder: string
  readonly taskCount: number
  /** The selected tasks, as far as their files are on this machine. */
  readonly tasks: readonly OsworldTask[]
  /** What preflight says, and what kept the tasks from being read. */
  readonly checks: readonly DoctorCheck[]
}

/** Reads the contract and what it selects; undefined without `--contract`. Throws for what the user typed wrong, and for nothing else. */
export async function readCampaign(given: DoctorArguments, environment: NodeJS.ProcessEnv): Promise<Campaign | undefined> {
  refuseWithoutContract(given)
  if (given.contract === undefined) return undefined
  const contract = await loadContractFile(given.contract)
  // Memory is one of the facts; here it must not refuse.
  const machine = { cores: 1, availableBytes: Number.MAX_SAFE_INTEGER }
  const options = parseRunOptions({ ...given, record: false }, { environment, now: new Date(), machine, recorded: undefined, contract, prices: noPrices })
  const { operation } = contract
  const asked = { ...contract, operation: { ...operation, num_envs: options.numEnvs.count } }
  return { contract: asked, options, resultsFolder: dirname(options.runFolder), ...(await planOrReason(contract, options, environment)) }
}

type Plan = Pick<Campaign, 'taskCount' | 'tasks' | 'checks'>

async function planOrReason(contract: ContractFile, options: RunOptions, environment: NodeJS.ProcessEnv): Promise<Plan> {
  const source = await readPinnedSource(options)
  try {
    return await (options.profile === packageProfile ? planPackage(options, source) : planPinned(options, { source, environment }))
  } catch (error) {
    const unread = [DocumentError, InventoryError, UpstreamError, UsageError].some((kind) => error instanceof kind)
    if (!unread || !(error instanceof Error)) throw error
    return { taskCount: contract.scoring.task_count ?? 0, tasks: [], checks: [required({ need: 'tasks of the contract', found: 'cannot be selected' }, error.message)] }
  }
}

async function planPackage(options: RunOptions, source: PinnedSource): Promise<Plan> {
  const selection = await selectTasks(options)
  const planned = plannedOfSelection(selection)
  return { taskCount: planned.tasks.length, tasks: selection.tasks.map(({ task }) => task.task), checks: await preflightChecks({ options, source, planned, agents: await readPackageAgents(join(workspace.profiles, options.profile)) }) }
}

interface Pinned {
  readonly source: PinnedSource
  readonly environment: NodeJS.ProcessEnv
}

/** The inventories say what preflight asks; only the evaluators need the tasks' files. */
async function planPinned(options: RunOptions, { source, environment }: Pinned): Promise<Plan> {
  const planned = plannedOfInventory(source, options)
  const checks = [...sourceChecks(options.profile, source), ...(await preflightChecks({ options, source, planned, agents: undefined }))]
  const checkout = options.checkout ?? join(cacheFolder(environment), 'osworld-source', source.profile?.commit ?? '')
  const read = planned.tasks.length === 0 ? [] : await readTree(checkout, planned, options.profile)
  const taskCount = planned.tasks.length
  return 'status' in read ? { taskCount, tasks: [], checks: [...checks, read] } : { taskCount, tasks: read, checks }
}

/** How sure the source is, which every output about it tells. */
function sourceChecks(name: string, { profile, isBuiltIn }: PinnedSource): readonly DoctorCheck[] {
  if (profile === undefined) return []
  const found = isBuiltIn ? provenanceSentence(name, profile) : `${name} is not one of this project's profiles; its results are labelled unverified.`
  return [advised({ need: 'source of the contract', found }, undefined)]
}

/** The planned tasks of a tree, or a line that says why their evaluators' programs are not known. */
async function readTree(checkout: string, planned: Planned, profile: string): Promise<readonly OsworldTask[] | DoctorCheck> {
  const need = 'host tools of the evaluators'
  const isThere = (await stat(checkout).catch(() => undefined))?.isDirectory() === true
  if (!isThere) return advised({ need, found: `not known: the tree of ${profile} is not on this machine` }, `npx osworld setup --profile ${profile}, and ask again`)
  try {
    const { tasks } = await loadTasks({ tasksDir: checkout, selection: planned.tasks.map(({ domain, id }) => `${domain}/${id}`) })
    return tasks.map(({ task }) => task)
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    return advised({ need, found: `not known: the tree ${checkout} does not hold the tasks of ${profile}` }, error.message)
  }
}

interface Gated extends Pick<Pinned, 'source'> {
  readonly options: RunOptions
  readonly planned: Planned
  readonly agents: PackageAgents | undefined
}

/** Every fault is a line with the gate's own sentence. */
async function preflightChecks(gated: Gated): Promise<readonly DoctorCheck[]> {
  try {
    const { task_count: count, profile, suite, notes } = (await passPreflight({ ...gated, digests: { scriptsSha256: undefined, agentSha256: undefined, adjustmentsSha256: undefined } })).evidence
    const passed = `${profile}/${suite}: passed with ${count} selected ${count === 1 ? 'task' : 'tasks'}`
    return [required({ need: 'preflight', found: [passed, ...notes].join('; ') }, undefined)]
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error
    return error.faults.map(({ rule, path, message }) => required({ need: `preflight${path === undefined ? '' : ` ${path}`}`, found: `refused by the rule ${rule}` }, message))
  }
}
