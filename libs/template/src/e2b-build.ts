import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { BuildReceipt, Connection, TemplateRef } from '@osworld-e2b/contracts'
import { Template, type BuildInfo } from 'e2b'
import type { BuildProgress } from './build-progress.ts'
import type { Clock } from './clock.ts'
import { contentName, contentSha256 } from './content-name.ts'
import { connectionOptions, sdkVersion } from './e2b-client.ts'
import { followBuild } from './e2b-follow.ts'
import { findReadyBuild } from './e2b-lookup.ts'
import { renderTemplate, type RenderedTemplate } from './e2b-render.ts'
import type { LoadedRecipe } from './load-recipe.ts'
import { makeReceipt } from './receipt.ts'
import { stageFiles } from './recipe-files.ts'
import { TemplateError } from './template-error.ts'

export interface BuildTemplateOptions {
  readonly recipe: LoadedRecipe
  readonly connection: Connection
  /** Existing folder in which the files to send are laid out for the time of the build. */
  readonly temporaryFolder: string
  readonly clock: Clock
  readonly onProgress?: (progress: BuildProgress) => void
  readonly signal?: AbortSignal
  /** For the whole build; two hours unless given. */
  readonly deadlineMs?: number
}

export interface BuiltTemplate {
  readonly template: TemplateRef
  readonly receipt: BuildReceipt
  /** A ready template of the same content was there already. */
  readonly reused: boolean
}

const defaultDeadlineMs = 2 * 60 * 60 * 1000

/**
 * Builds the recipe, or finds the ready template that has its content name. Throws `TemplateError`: `build_failed`
 * names the failing step, `build_deadline` and `build_aborted` say how far it came, `api_failed` that the server refused.
 */
export async function buildTemplate(options: BuildTemplateOptions): Promise<BuiltTemplate> {
  const name = contentName(options.recipe.recipe, options.recipe.files)
  const deadlineMs = options.deadlineMs ?? defaultDeadlineMs
  const deadline = AbortSignal.timeout(deadlineMs)
  const signal = options.signal === undefined ? deadline : AbortSignal.any([options.signal, deadline])
  let lastStep = 'preparing the build'
  const onProgress = (progress: BuildProgress) => {
    if (progress.kind === 'step') lastStep = progress.name
    options.onProgress?.(progress)
  }
  try {
    return await findOrBuild({ ...options, onProgress, signal }, name)
  } catch (error) {
    if (error instanceof TemplateError) throw error
    if (deadline.aborted) throw new TemplateError('build_deadline', `The build of ${name} did not end within ${Math.round(deadlineMs / 1000)} s; it was at "${lastStep}". Finished steps are kept: start it again to go on from there.`, error)
    if (signal.aborted) throw new TemplateError('build_aborted', `The build of ${name} was stopped at "${lastStep}".`, error)
    throw new TemplateError('api_failed', `The build of ${name} failed at "${lastStep}": ${describeError(error)}`, error)
  }
}

type RunningOptions = BuildTemplateOptions & { readonly onProgress: (progress: BuildProgress) => void; readonly signal: AbortSignal }

async function findOrBuild(options: RunningOptions, name: string): Promise<BuiltTemplate> {
  const startedMs = options.clock.now()
  const found = await findReadyBuild(options.connection, name, options.signal)
  const build = found ?? (await runBuild(options, name))
  const template = `${name}:${build.buildId}`
  const endedMs = options.clock.now()
  const receipt = makeReceipt(options.recipe, {
    template,
    templateId: build.templateId,
    builtAt: new Date(found?.taggedAt ?? endedMs).toISOString(),
    seconds: Math.round((endedMs - startedMs) / 1000),
    reused: found !== undefined,
    route: options.connection.route,
    sdkVersion: sdkVersion(),
    contentSha256: contentSha256(options.recipe.recipe, options.recipe.files),
  })
  return { template, receipt, reused: found !== undefined }
}

/** The staged files are needed only until they are sent, but go when the build has ended, whatever its end. */
async function runBuild(options: RunningOptions, name: string): Promise<BuildInfo> {
  const { recipe, connection, onProgress, signal, clock } = options
  const contextFolder = await mkdtemp(join(options.temporaryFolder, 'osworld-template-'))
  try {
    await stageFiles(recipe.folder, recipe.files, contextFolder)
    const rendered = renderTemplate({ recipe: recipe.recipe, route: connection.route, contextFolder })
    const build = await startBuild(rendered, name, options)
    await followBuild({ build, connection, stepNames: rendered.stepNames, onProgress, signal, clock })
    return build
  } finally {
    await rm(contextFolder, { recursive: true, force: true })
  }
}

async function startBuild({ template }: RenderedTemplate, name: string, options: RunningOptions): Promise<BuildInfo> {
  const { cpu_count: cpuCount, memory_mb: memoryMB } = options.recipe.recipe.resources
  return Template.buildInBackground(template, name, {
    ...connectionOptions(options.connection),
    cpuCount,
    memoryMB,
    signal: options.signal,
    onBuildLogs: ({ level, message }) => options.onProgress({ kind: 'log', level, message }),
  })
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}
