import type { NetworkMode, RunningSandbox } from '../driver.ts'
import type { BuildState } from './build-spec.ts'
import { forcedLayerId, stepKey, type KeyedStep } from './layer-key.ts'
import type { LayerEntry } from './layer-cache.ts'
import type { Settings } from './steps.ts'
import { keepChanges, startOn, type Workbench } from './workbench.ts'

export interface LayerRequest {
  readonly step: KeyedStep
  readonly network: NetworkMode
  /** Id of the build that must make the layer again; undefined when the cache may answer. */
  readonly forcedBy: string | undefined
  readonly work: (sandbox: RunningSandbox) => Promise<Settings>
}

export interface MadeLayer {
  readonly state: BuildState
  readonly isCached: boolean
}

/** The state after a step: from the cache, or by doing `work` in a sandbox whose changes become a layer. */
export async function makeLayer(bench: Workbench, before: BuildState, request: LayerRequest): Promise<MadeLayer> {
  const key = stepKey(before.id, request.step)
  return bench.cache.alone(key, async () => {
    const cached = request.forcedBy === undefined ? await bench.cache.read(key) : undefined
    if (cached !== undefined) return { state: after(bench, before, cached), isCached: true }
    const id = request.forcedBy === undefined ? key : forcedLayerId(key, request.forcedBy)
    const entry = await workIn(bench, before, { ...request, id })
    await bench.cache.write(key, entry)
    return { state: after(bench, before, entry), isCached: false }
  })
}

async function workIn(bench: Workbench, before: BuildState, request: LayerRequest & { readonly id: string }): Promise<LayerEntry> {
  const sandbox = await startOn(bench, before, request.network)
  try {
    const { user, workdir, environment } = await request.work(sandbox)
    const hasFolder = await keepChanges(bench, sandbox, request.id)
    return { id: request.id, has_folder: hasFolder, user, workdir, environment: { ...environment } }
  } finally {
    await sandbox.destroy()
  }
}

function after(bench: Workbench, before: BuildState, entry: LayerEntry): BuildState {
  const layers = entry.has_folder ? [bench.cache.relativeFolder(entry.id), ...before.layers] : before.layers
  return { id: entry.id, layers, user: entry.user, workdir: entry.workdir, environment: entry.environment }
}
