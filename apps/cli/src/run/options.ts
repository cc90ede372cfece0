import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { type Contract, type ContractFile, longestAttemptSeconds, type PriceTable, type Route, type TemplateRef, templateRefSchema, type Timing, timingSchema } from '@osworld-e2b/contracts'
import { type SandboxPrice, sandboxPrice } from '@osworld-e2b/gates'
import { packageProfile } from '../setup/git-profile.ts'
import { UsageError } from '../usage-error.ts'
import { cacheFolder, workspace } from '../workspace.ts'
import { type AgentOptions, agentOptions } from './agent-options.ts'
import type { RunArguments } from './arguments.ts'
import { decideNumEnvs, type Machine, type NumEnvs } from './capacity.ts'
import { type Limits, limitOptions } from './limit-options.ts'
import type { Recorded } from './recorded.ts'
import { suiteFolder } from './suite-folder.ts'
import { oneOf, price, wholeNumber } from './typed-values.ts'

export interface RunOptions extends AgentOptions {
  readonly source: { readonly kind: 'suite' | 'tasks' | 'profile'; readonly folder: string }
  /** `domain/id`, or beginnings of ids; all tasks when empty. */
  readonly selection: readonly string[]
  readonly domains: readonly string[]
  /** Where the module of an agent of the user's own lies. */
  readonly agentFolder: string | undefined
  /** Of an agent that is asked over HTTP: as typed, else what the contract's variable holds. */
  readonly agentUrl: string | undefined
  readonly limits: Limits
  readonly onInterrupt: 'cancel' | 'drain'
  readonly scripts: string
  readonly numEnvs: NumEnvs
  readonly trials: number
  readonly maxSteps: number
  readonly maxAttempts: number
  readonly attemptTimeoutSeconds: number
  readonly timing: Timing
  readonly template: TemplateRef | undefined
  readonly profile: string
  /** Of the pinned source, or of `validation/`; absent for a folder of tasks. */
  readonly suite: string | undefined
  readonly profilesFile: string
  /** OSWorld's tree; the usual place in the cache when absent. */
  readonly checkout: string | undefined
  /** As the user wrote it; absent where flags say it all. */
  readonly contractFile: ContractFile | undefined
  readonly route: { readonly kind: Route; readonly final: boolean }
  readonly enableProxy: boolean
  readonly proxyFile: string | undefined
  /** `local:guest`, as typed. */
  readonly secretMounts: readonly string[]
  readonly settingsFolder: string | undefined
  readonly assets: { readonly folder: string; readonly offline: boolean } | undefined
  readonly preflightOnly: boolean
  /** Where to write the contract that the flags amount to, instead of running it. */
  readonly writeContract: string | undefined
  readonly prices: Prices
  readonly runId: string
  readonly runFolder: string
  readonly dataFolder: string
  readonly record: boolean
  readonly dryRun: boolean
  readonly verbose: boolean
  readonly json: boolean
}

export interface Prices {
  readonly sandbox: SandboxPrice
  /** Null where it is not known. */
  readonly sandboxHourUsd: number | null
  /** Null where nobody said. */
  readonly modelRequestUsd: number | null
  readonly table: PriceTable
}

export interface OptionsContext {
  readonly environment: NodeJS.ProcessEnv
  readonly now: Date
  readonly machine: Machine
  /** The run that is resumed, or whose failed tasks are run. */
  readonly recorded: Recorded | undefined
  /** What `--contract` names, read. */
  readonly contract: ContractFile | undefined
  /** What `--prices` names, read. */
  readonly prices: PriceTable
}

/** Loose arguments become options once; every refusal names the flag and what it allows. */
export function parseRunOptions(given: RunArguments, { environment, now, machine, recorded, contract, prices: table }: OptionsContext): RunOptions {
  const runId = given.runId ?? newRunId(now)
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(runId)) throw new UsageError(`--run-id ${runId} is not a plain folder name; use letters, digits, dots, underscores and dashes.`)
  if (contract !== undefined) refuseBesideContract(given, contract)
  const scoring: Partial<Settings['scoring']> = contract?.scoring ?? recorded?.contract.scoring ?? {}
  const operation: Partial<Settings['operation']> = contract?.operation ?? recorded?.contract.operation ?? {}
  const number = (flag: string, typed: string | undefined, usual: number) => (typed === undefined ? usual : wholeNumber(flag, typed))
  const route = operation.route ?? { kind: 'local', final: false }
  const profile = given.profile ?? scoring.profile ?? packageProfile
  return {
    ...tasksOf(given, { recorded, contract, profile }),
    ...agentOptions(given, scoring.agent),
    agentFolder: given.agentPath === undefined ? undefined : resolve(given.agentPath),
    agentUrl: given.agentUrl ?? environment[operation.agent_url_variable ?? ''],
    limits: limitOptions(given, operation),
    onInterrupt: oneOf('--on-interrupt', given.onInterrupt ?? 'cancel', ['cancel', 'drain']),
    scripts: given.scripts ?? recorded?.contract.operation.scripts_folder ?? (scoring.agent?.kind === 'scripted' ? scoring.agent.scripts : 'solve'),
    numEnvs: decideNumEnvs(numEnvsOf(given, { recorded, contract }), route.kind === 'local' ? machine : undefined),
    trials: number('--trials', given.trials, scoring.trials ?? 1),
    maxSteps: number('--max-steps', given.maxSteps, scoring.max_steps ?? 100),
    maxAttempts: number('--max-attempts', given.maxAttempts, operation.max_attempts_per_trial ?? 3),
    attemptTimeoutSeconds: wholeNumber('--attempt-timeout', given.attemptTimeout ?? String(operation.attempt_timeout_seconds ?? 1_800), longestAttemptSeconds),
    timing: given.timing === undefined ? (scoring.timing ?? 'settled') : oneOf('--timing', given.timing, timingSchema.options),
    template: given.template === undefined ? (contract?.scoring.template ?? resumed(recorded)?.scoring.template) : templateOf(given.template),
    profile,
    profilesFile: given.profiles === undefined ? workspace.profilesFile : resolve(given.profiles),
    checkout: given.checkout === undefined ? undefined : resolve(given.checkout),
    contractFile: contract,
    route,
    enableProxy: scoring.enable_proxy ?? false,
    proxyFile: given.proxyFile === undefined ? undefined : resolve(given.proxyFile),
    secretMounts: given.vmSecretMount ?? [],
    settingsFolder: given.settings === undefined ? undefined : resolve(given.settings),
    assets: assetsOf(given, environment),
    preflightOnly: given.preflightOnly ?? false,
    writeContract: writeContractOf(given),
    prices: pricesOf(given, route.kind, table),
    runId,
    runFolder: resolve(given.results ?? workspace.runs, runId),
    dataFolder: resolve(given.data ?? join(cacheFolder(environment), 'local-e2b')),
    record: given.record,
    dryRun: given.dryRun ?? false,
    verbose: given.verbose ?? false,
    json: given.json ?? false,
  }
}

/** What a written and a recorded contract have in common. */
type Settings = Pick<Contract | ContractFile, 'scoring' | 'operation'>

/** Flags that change the score or what may be spent, which a contract alone decides. */
const contractFlags = {
  suite: '--suite', tasks: '--tasks', task: '--task', domain: '--domain', failedOf: '--failed-of', agent: '--agent', agentName: '--agent-name', model: '--model',
  agentSetting: '--agent-setting', scripts: '--scripts', trials: '--trials', maxSteps: '--max-steps', endpoint: '--endpoint', endpointKey: '--endpoint-key', endpointConcurrency: '--endpoint-concurrency',
  modelCallAttempts: '--model-call-attempts', keepModelContent: '--keep-model-content', setupTimeout: '--setup-timeout', agentTimeout: '--agent-timeout', evaluateTimeout: '--evaluate-timeout',
  launchesPerSecond: '--launches-per-second', runSeconds: '--run-seconds', budgetUsd: '--budget-usd', budgetSandboxHours: '--budget-sandbox-hours', budgetRequests: '--budget-requests', budgetTokens: '--budget-tokens',
  maxAttempts: '--max-attempts', attemptTimeout: '--attempt-timeout', timing: '--timing', template: '--template', profile: '--profile',
} as const

function refuseBesideContract(given: RunArguments, { operation }: ContractFile): void {
  const typed = (Object.keys(contractFlags) as (keyof typeof contractFlags)[]).find((name) => given[name] !== undefined)
  if (typed !== undefined) throw new UsageError(`${contractFlags[typed]} and --contract exclude each other: the contract decides it, so write it there.`)
  const asked = given.numEnvs === undefined ? operation.num_envs : wholeNumber('--num-envs', given.numEnvs)
  if (asked > operation.num_envs) throw new UsageError(`--num-envs ${asked} is more than the ${operation.num_envs} that the contract allows; give ${operation.num_envs} or fewer.`)
}

function numEnvsOf({ numEnvs }: RunArguments, { recorded, contract }: Pick<OptionsContext, 'recorded' | 'contract'>): number | undefined {
  if (numEnvs !== undefined) return wholeNumber('--num-envs', numEnvs)
  return contract?.operation.num_envs ?? resumed(recorded)?.operation.num_envs
}

function writeContractOf({ writeContract, contract }: RunArguments): string | undefined {
  if (writeContract !== undefined && contract !== undefined) throw new UsageError('--write-contract and --contract exclude each other: the contract is written already.')
  return writeContract === undefined ? undefined : resolve(writeContract)
}

function pricesOf({ sandboxHourUsd, modelRequestUsd }: RunArguments, route: Route, table: PriceTable): Prices {
  const sandbox = sandboxPrice(route, sandboxHourUsd === undefined ? undefined : price('--sandbox-hour-usd', sandboxHourUsd))
  return { sandbox, sandboxHourUsd: sandbox.hourUsd, modelRequestUsd: modelRequestUsd === undefined ? null : price('--model-request-usd', modelRequestUsd), table }
}

function assetsOf({ assets, offline = false }: RunArguments, environment: NodeJS.ProcessEnv): RunOptions['assets'] {
  if (assets === undefined && !offline) return undefined
  return { folder: typeof assets === 'string' ? resolve(assets) : join(cacheFolder(environment), 'assets'), offline }
}

function resumed(recorded: Recorded | undefined): Contract | undefined {
  return recorded?.isResumed === true ? recorded.contract : undefined
}

interface TaskContext extends Pick<OptionsContext, 'recorded' | 'contract'> {
  readonly profile: string
}

type TaskChoice = Pick<RunOptions, 'source' | 'suite' | 'selection' | 'domains'>

/** Where the tasks are and which of them; a recorded run's own unless the user names others. */
function tasksOf(given: RunArguments, { recorded, contract, profile }: TaskContext): TaskChoice {
  if (given.failedOf !== undefined && given.task !== undefined) throw new UsageError('--failed-of and --task exclude each other: the failed tasks are chosen by how they ended.')
  const place = placeOf({ ...given, suite: given.suite ?? contract?.scoring.suite }, profile) ?? recordedPlace(recorded) ?? { source: { kind: 'suite', folder: join(workspace.suites, 'starter') }, suite: 'starter' }
  const domains = given.domain ?? contract?.scoring.domains ?? []
  const patterns = given.task ?? contract?.scoring.selection
  if (patterns !== undefined || recorded === undefined || contract !== undefined) return { ...place, selection: patterns ?? [], domains }
  const selection = recorded.tasks.filter((task) => domains.length === 0 || domains.includes(task.slice(0, task.indexOf('/'))))
  if (selection.length > 0) return { ...place, selection, domains }
  throw new UsageError(`--domain ${domains.join(' ')}: none of the tasks to run is in ${domains.length === 1 ? 'that domain' : 'those domains'}; they are ${recorded.tasks.slice(0, 5).join(', ')}.`)
}

type Place = Pick<RunOptions, 'source' | 'suite'>

function placeOf({ suite, tasks }: Pick<RunArguments, 'tasks'> & { readonly suite: string | undefined }, profile: string): Place | undefined {
  if (suite !== undefined && tasks !== undefined) throw new UsageError('--suite and --tasks exclude each other: give the one that holds your tasks.')
  if (tasks !== undefined) return { source: { kind: 'tasks', folder: resolve(tasks) }, suite: undefined }
  if (suite === '') throw new UsageError('--suite needs a name or a folder.')
  if (profile !== packageProfile) return { source: { kind: 'profile', folder: '' }, suite: suite ?? 'nogdrive' }
  return suite === undefined ? undefined : { source: { kind: 'suite', folder: suiteFolder(suite) }, suite }
}

function recordedPlace(recorded: Recorded | undefined): Place | undefined {
  const source = recorded?.contract.operation.source
  return source && { source, suite: recorded.contract.scoring.suite }
}

function templateOf(given: string): TemplateRef {
  const parsed = templateRefSchema.safeParse(given)
  if (parsed.success) return parsed.data
  throw new UsageError(`--template ${given} is not name:build_id; give what \`nx run template-builder:build\` printed, since a tag can move under a run.`)
}

/** UTC time and eight random hexadecimal digits. */
function newRunId(now: Date): string {
  const stamp = now.toISOString().replaceAll(/[-:]/g, '').replace(/\.\d+/, '')
  return `${stamp}-${randomBytes(4).toString('hex')}`
}
