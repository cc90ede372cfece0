import { randomBytes } from 'node:crypto'
import { freemem, availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { longestAttemptSeconds, type TemplateRef, templateRefSchema, type Timing, timingSchema } from '@osworld-e2b/contracts'
import { UsageError } from '../usage-error.ts'
import { cacheFolder, workspace } from '../workspace.ts'

/** What the user typed, as the argument parser gives it. */
export interface RunArguments {
  readonly suite?: string
  readonly tasks?: string
  readonly task?: readonly string[]
  readonly agent: string
  readonly scripts: string
  readonly numEnvs?: string
  readonly trials: string
  readonly maxSteps: string
  readonly maxAttempts: string
  readonly attemptTimeout: string
  readonly timing: string
  readonly template?: string
  readonly profile: string
  readonly runId?: string
  readonly results?: string
  readonly data?: string
  readonly record: boolean
  readonly json: boolean
}

export interface RunOptions {
  readonly source: { readonly kind: 'suite'; readonly folder: string } | { readonly kind: 'tasks'; readonly folder: string }
  readonly selection: readonly string[]
  readonly agent: 'scripted' | 'none'
  readonly scripts: string
  readonly numEnvs: number
  readonly trials: number
  readonly maxSteps: number
  readonly maxAttempts: number
  readonly attemptTimeoutSeconds: number
  readonly timing: Timing
  readonly template: TemplateRef | undefined
  readonly profile: string
  readonly runId: string
  readonly runFolder: string
  readonly dataFolder: string
  readonly record: boolean
  readonly json: boolean
}

/** Loose arguments become options once; every refusal names the flag and what it allows. */
export function parseRunOptions(given: RunArguments, environment: NodeJS.ProcessEnv, now: Date): RunOptions {
  const runId = given.runId ?? newRunId(now)
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(runId)) throw new UsageError(`--run-id ${runId} is not a plain folder name; use letters, digits, dots, underscores and dashes.`)
  return {
    source: sourceOf(given),
    selection: given.task ?? [],
    agent: oneOf('--agent', given.agent, ['scripted', 'none']),
    scripts: given.scripts,
    numEnvs: given.numEnvs === undefined ? defaultNumEnvs() : wholeNumber('--num-envs', given.numEnvs),
    trials: wholeNumber('--trials', given.trials),
    maxSteps: wholeNumber('--max-steps', given.maxSteps),
    maxAttempts: wholeNumber('--max-attempts', given.maxAttempts),
    attemptTimeoutSeconds: wholeNumber('--attempt-timeout', given.attemptTimeout, longestAttemptSeconds),
    timing: oneOf('--timing', given.timing, timingSchema.options),
    template: templateOf(given.template),
    profile: given.profile,
    runId,
    runFolder: resolve(given.results ?? workspace.runs, runId),
    dataFolder: resolve(given.data ?? join(cacheFolder(environment), 'local-e2b')),
    record: given.record,
    json: given.json,
  }
}

/** Eight at most, one a core and one for two GiB of free memory: a desktop with applications takes that. */
export function defaultNumEnvs(cores = availableParallelism(), freeBytes = freemem()): number {
  return Math.max(1, Math.min(8, cores, Math.floor(freeBytes / 2 ** 31)))
}

function sourceOf({ suite, tasks }: RunArguments): RunOptions['source'] {
  if (suite !== undefined && tasks !== undefined) throw new UsageError('--suite and --tasks exclude each other: give the one that holds your tasks.')
  if (tasks !== undefined) return { kind: 'tasks', folder: resolve(tasks) }
  const name = suite ?? 'starter'
  if (name === '') throw new UsageError('--suite needs a name or a folder.')
  return { kind: 'suite', folder: name.includes('/') ? resolve(name) : join(workspace.suites, name) }
}

function templateOf(given: string | undefined): TemplateRef | undefined {
  if (given === undefined) return undefined
  const parsed = templateRefSchema.safeParse(given)
  if (parsed.success) return parsed.data
  throw new UsageError(`--template ${given} is not name:build_id; give what \`nx run template-builder:build\` printed, since a tag can move under a run.`)
}

function wholeNumber(flag: string, given: string, most = 1_000_000): number {
  const value = Number(given)
  if (/^\d+$/.test(given) && value >= 1 && value <= most) return value
  throw new UsageError(`${flag} ${given} is not a whole number from 1 to ${most}.`)
}

function oneOf<Value extends string>(flag: string, given: string, allowed: readonly Value[]): Value {
  const found = allowed.find((value) => value === given)
  if (found === undefined) throw new UsageError(`${flag} ${given} is unknown; it takes ${allowed.join(' or ')}.`)
  return found
}

/** UTC time and eight random hexadecimal digits. */
function newRunId(now: Date): string {
  const stamp = now.toISOString().replaceAll(/[-:]/g, '').replace(/\.\d+/, '')
  return `${stamp}-${randomBytes(4).toString('hex')}`
}
