import type { SandboxDriver } from '../driver.ts'
import { LocalE2bError, describeError } from '../error.ts'
import type { Clock } from '../server/clock.ts'
import type { Log } from '../server/log.ts'
import type { DataFolder } from '../store/data-folder.ts'
import { parseReference } from '../store/reference.ts'
import type { BuildReason, TemplateRecord } from '../store/template-document.ts'
import type { BuildResult, ReadyImage, TemplateStore } from '../store/template-store.ts'
import type { UploadStore } from '../store/upload-store.ts'
import { buildImage } from './build-steps.ts'
import type { BuildSpec, StepName } from './build-spec.ts'
import { readyTiming } from './finalize.ts'
import { defaultImage, planImage } from './image.ts'
import { layerCache } from './layer-cache.ts'

export interface BuildsOptions {
  readonly driver: SandboxDriver
  readonly folder: DataFolder
  readonly templates: TemplateStore
  readonly uploads: UploadStore
  readonly clock: Clock
  readonly log: Log
  readonly buildLimitMs: number
  readonly layerPath: (layer: string) => string
}

export interface BuildLogEntry {
  readonly timestamp: string
  readonly level: 'info' | 'warn' | 'error'
  readonly message: string
  readonly step: StepName
}

export interface Builds {
  /** Starts a build that was asked for before; throws `conflict` when it was started already. */
  start(template: TemplateRecord, buildId: string, spec: BuildSpec): Promise<void>
  /** Log lines from `offset` on, at most 100. */
  logsOf(buildId: string, offset: number): readonly BuildLogEntry[]
  /** The finished image of a reference; the built-in template `base` is made at its first use. */
  resolveImage(reference: string): Promise<ReadyImage>
  close(): Promise<void>
}

/** Name of the template that exists without having been built by anybody. */
export const builtInTemplate = 'base'

const logPage = 100
const builtInSize = { cpuCount: 2, memoryMb: 1024 }

export function openBuilds(options: BuildsOptions): Builds {
  const { templates, clock, log } = options
  const cache = layerCache(options.folder)
  const logs = new Map<string, BuildLogEntry[]>()
  const queues = new Map<string, Promise<void>>()
  const closing = new AbortController()
  let builtIn: Promise<void> | undefined

  const run = async (template: TemplateRecord, buildId: string, spec: BuildSpec): Promise<void> => {
    const entries = logs.get(buildId) ?? []
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(options.buildLimitMs)])
    let step: StepName = 'base'
    const write = (name: StepName, message: string, level: BuildLogEntry['level'] = 'info'): void => {
      entries.push({ timestamp: new Date(clock.now()).toISOString(), level, message, step: name })
    }
    const finish = async (result: BuildResult): Promise<void> => {
      if (templates.find(template.template_id) !== undefined) await templates.finish(template.template_id, buildId, result)
    }
    try {
      const bench = { driver: options.driver, cache, uploads: options.uploads, layerPath: options.layerPath, signal }
      const image = await buildImage({
        bench,
        folder: options.folder,
        buildId,
        spec,
        log: write,
        timing: readyTiming,
        resolveTemplate: resolveImage,
        onStep: (name) => void (step = name),
      })
      write('finalize', 'build finished')
      await finish({ image })
      log.info({ template: template.name, build: buildId }, 'template built')
    } catch (error) {
      const reason: BuildReason = { step, message: closing.signal.aborted ? 'the server closed during the build' : describeError(error) }
      write(step, reason.message, 'error')
      log.warn({ template: template.name, build: buildId, ...reason }, 'template build failed')
      await finish({ reason })
    }
  }
  /** One build at a time for each name. */
  const enqueue = (template: TemplateRecord, buildId: string, spec: BuildSpec): Promise<void> => {
    const before = queues.get(template.name) ?? Promise.resolve()
    const mine = before.then(() => run(template, buildId, spec)).catch((error: unknown) => log.error({ build: buildId, reason: describeError(error) }, 'a build could not be recorded'))
    queues.set(template.name, mine)
    return mine
  }
  const start = async (template: TemplateRecord, buildId: string, spec: BuildSpec): Promise<{ readonly finished: Promise<void> }> => {
    closing.signal.throwIfAborted()
    if (templates.build(template.template_id, buildId).status !== 'waiting') {
      throw new LocalE2bError('conflict', `Build ${buildId} was started before: ask for a new build.`)
    }
    logs.set(buildId, [])
    await templates.markBuilding(template.template_id, buildId)
    // In an object, since an async function would wait for the build itself.
    return { finished: enqueue(template, buildId, spec) }
  }
  const makeBuiltIn = async (): Promise<void> => {
    const { template, build } = await templates.addBuild({ name: builtInTemplate, tags: ['default'], ...builtInSize })
    const origin = { kind: 'image' as const, plan: planImage(defaultImage, new Map()) }
    const { finished } = await start(template, build.build_id, { origin, steps: [], startCommand: null, readyCommand: null, isForced: false })
    await finished
    const { reason } = build
    if (reason !== null) throw new LocalE2bError('build_failed', `The built-in template '${builtInTemplate}' could not be made: ${reason.message}`)
  }
  const resolveImage = async (reference: string): Promise<ReadyImage> => {
    const { name, version = 'default' } = parseReference(reference)
    const known = templates.find(name)
    const isBuiltIn = name === builtInTemplate || known?.name === builtInTemplate
    if (isBuiltIn && version === 'default' && known?.tags.default === undefined) {
      builtIn ??= makeBuiltIn().finally(() => (builtIn = undefined))
      await builtIn
    }
    return templates.resolve(reference)
  }
  return {
    resolveImage,
    async start(template, buildId, spec) {
      await start(template, buildId, spec)
    },
    logsOf: (buildId, offset) => (logs.get(buildId) ?? []).slice(offset, offset + logPage),
    async close() {
      closing.abort(new LocalE2bError('closing', 'The server is closing.'))
      await Promise.all(queues.values())
    },
  }
}
