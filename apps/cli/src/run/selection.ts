import { stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { AttemptAgent, TaskKey } from '@osworld-e2b/contracts'
import { canonicalJson, sha256File, sha256Hex } from '@osworld-e2b/inventory'
import { loadScript, loadTasks, type LoadedTask } from '@osworld-e2b/upstream'
import { verifyInventory } from './suite-inventory.ts'
import { UsageError } from '../usage-error.ts'
import type { RunOptions } from './options.ts'

export interface SelectedTask {
  readonly task: LoadedTask
  readonly agent: AttemptAgent
}

export interface Selection {
  /** Name of the suite, or `tasks` for tasks picked from a folder. */
  readonly suite: string
  readonly tasks: readonly SelectedTask[]
  /** Name, folder and digest of the scripts; absent for an agent that has none. */
  readonly scripts: { readonly name: string; readonly folder: string; readonly sha256: string } | undefined
}

/** The tasks of a run with what their agent is told, all read and checked before anything is started. */
export async function selectTasks(options: RunOptions): Promise<Selection> {
  const { source, selection, domains } = options
  const loaded = await loadTasks({ tasksDir: source.folder, selection, domains })
  if (loaded.source.kind === 'suite') await verifyInventory(source.folder, loaded.tasks)
  refuseDuplicates(loaded.tasks.map(({ key }) => `${key.domain}/${key.id}`))
  const suite = loaded.source.name ?? 'tasks'
  if (options.agent === 'none') {
    return { suite, tasks: loaded.tasks.map((task) => ({ task, agent: { kind: 'none' } })), scripts: undefined }
  }
  const folder = await scriptsFolder(options)
  const scripted = await Promise.all(loaded.tasks.map((task) => withScript(task, folder)))
  const digests = scripted.map(({ task: { key }, sha256 }) => ({ ...key, sha256 }))
  return { suite, tasks: scripted, scripts: { name: basename(folder), folder, sha256: sha256Hex(canonicalJson(digests)) } }
}

function refuseDuplicates(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new UsageError(`The task ${twice} is named twice; it would count twice, so name it once.`)
}

/** A set of the suite by its name, else a folder. */
async function scriptsFolder({ source, scripts }: RunOptions): Promise<string> {
  const inSuite = join(source.folder, 'scripts', scripts)
  if (source.kind === 'suite' && (await isFolder(inSuite))) return inSuite
  if (await isFolder(scripts)) return resolve(scripts)
  throw new UsageError(`--scripts ${scripts} is neither a set of scripts in ${join(source.folder, 'scripts')} nor a folder; give the folder that holds <domain>/<task-id>.json.`)
}

async function withScript(task: LoadedTask, folder: string): Promise<SelectedTask & { readonly sha256: string }> {
  const file = scriptFile(folder, task.key)
  const script = await loadScript(file, task.key)
  return { task, agent: { kind: 'scripted', actions: script.actions }, sha256: await sha256File(file) }
}

function scriptFile(folder: string, { domain, id }: TaskKey): string {
  return join(folder, domain, `${id}.json`)
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true
}
