import { stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { AttemptAgent, Inventory, ScriptedAction, TaskKey } from '@osworld-e2b/contracts'
import type { InventoryFigures } from '@osworld-e2b/gates'
import { canonicalJson, sha256File, sha256Hex } from '@osworld-e2b/inventory'
import { loadScript, loadTasks, type LoadedTask } from '@osworld-e2b/upstream'
import { verifyInventory } from './suite-inventory.ts'
import { UsageError } from '../usage-error.ts'
import type { RunOptions } from './options.ts'
import type { Planned } from './planned.ts'

export interface SelectedTask {
  readonly task: LoadedTask
  readonly agent: AttemptAgent
}

export interface ReadTask {
  readonly task: LoadedTask
  /** What the scripted agent does in it; absent for any other. */
  readonly script: readonly ScriptedAction[] | undefined
}

/** The tasks of a run before it is known what their agent is told. */
export interface ReadSelection {
  /** Name of the suite, or `tasks` for tasks picked from a folder. */
  readonly suite: string
  /** That the task files were held against; absent for tasks that none covers. */
  readonly inventory: InventoryFigures | undefined
  readonly tasks: readonly ReadTask[]
  /** Name, folder and digest of the scripts; absent for an agent that has none. */
  readonly scripts: { readonly name: string; readonly folder: string; readonly sha256: string } | undefined
}

export interface Selection extends Omit<ReadSelection, 'tasks'> {
  readonly tasks: readonly SelectedTask[]
}

/** The tasks of a run with their scripts, all read and checked before anything is started. */
export async function selectTasks(options: RunOptions): Promise<ReadSelection> {
  const { source, selection, domains } = options
  const loaded = await loadTasks({ tasksDir: source.folder, selection, domains })
  const inventory = loaded.source.kind === 'suite' ? await verifyInventory(source.folder, loaded.tasks) : undefined
  refuseDuplicates(loaded.tasks.map(({ key }) => `${key.domain}/${key.id}`))
  const head = { suite: loaded.source.name ?? 'tasks', inventory }
  if (options.agent !== 'scripted') return { ...head, tasks: loaded.tasks.map((task) => ({ task, script: undefined })), scripts: undefined }
  const folder = await scriptsFolder(options)
  const scripted = await Promise.all(loaded.tasks.map((task) => withScript(task, folder)))
  const digests = scripted.map(({ task: { key }, sha256 }) => ({ ...key, sha256 }))
  return { ...head, tasks: scripted, scripts: { name: basename(folder), folder, sha256: sha256Hex(canonicalJson(digests)) } }
}

/** The same with what the agent is told in each task. */
export function withAgents(selection: ReadSelection, agentIn: (task: ReadTask) => AttemptAgent): Selection {
  return { ...selection, tasks: selection.tasks.map((read) => ({ task: read.task, agent: agentIn(read) })) }
}

export interface PinnedTasks {
  /** OSWorld's tree. */
  readonly checkout: string
  readonly planned: Planned
  readonly inventory: Inventory
  readonly agent: AttemptAgent
}

/** The same of a pinned source: the planned tasks' files of its tree, each held against the inventory once more. */
export async function selectPinnedTasks({ checkout, planned, inventory, agent }: PinnedTasks): Promise<Selection> {
  const { tasks } = await loadTasks({ tasksDir: checkout, selection: planned.tasks.map(({ domain, id }) => `${domain}/${id}`) })
  const digests = new Map(inventory.tasks.map((task) => [`${task.domain}/${task.id}`, task.task_sha256]))
  const changed = tasks.find(({ key, sha256 }) => digests.get(`${key.domain}/${key.id}`) !== sha256)
  if (changed !== undefined) throw new UsageError(`The task file ${changed.file} is not the one of the inventory ${inventory.profile}/${inventory.suite}; run \`osworld setup --profile ${inventory.profile}\` again.`)
  return { suite: inventory.suite, inventory, tasks: tasks.map((task) => ({ task, agent })), scripts: undefined }
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

async function withScript(task: LoadedTask, folder: string): Promise<ReadTask & { readonly sha256: string }> {
  const file = scriptFile(folder, task.key)
  const script = await loadScript(file, task.key)
  return { task, script: script.actions, sha256: await sha256File(file) }
}

function scriptFile(folder: string, { domain, id }: TaskKey): string {
  return join(folder, domain, `${id}.json`)
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true
}
