import type { Inventory, TaskKey } from '@osworld-e2b/contracts'
import { type CapabilityTask, type InventoryFigures, needsDrive } from '@osworld-e2b/gates'
import { selectTaskKeys } from '@osworld-e2b/upstream'
import type { RunOptions } from './options.ts'
import type { PinnedSource } from './pinned-source.ts'
import type { ReadSelection } from './selection.ts'

/** What the gates are told of the tasks to run. */
export interface Planned {
  /** Its name as it calls itself. */
  readonly suite: string
  readonly inventory: InventoryFigures | undefined
  readonly tasks: readonly CapabilityTask[]
}

/** Of a pinned source, before any of its files is there: its inventories say it all. */
export function plannedOfInventory({ inventories }: Pick<PinnedSource, 'inventories'>, { suite, selection, domains }: Pick<RunOptions, 'suite' | 'selection' | 'domains'>): Planned {
  const inventory = suite === undefined ? undefined : inventories.get(suite)
  if (suite === undefined || inventory === undefined) return { suite: suite ?? '', inventory, tasks: [] }
  const drive = new Set(driveTasks(inventories).map(nameOf))
  const chosen = new Set(selectTaskKeys(inventory.tasks.map(({ domain, id }) => ({ domain, id })), { selection, domains }).map(nameOf))
  const tasks = inventory.tasks.filter((task) => chosen.has(nameOf(task)))
  return { suite, inventory, tasks: tasks.map(({ domain, id, proxy }) => ({ domain, id, proxy, needsDrive: drive.has(nameOf({ domain, id })) })) }
}

/** Google Drive tasks have a suite of their own wherever one of the profile's suites has them. */
function driveTasks(inventories: PinnedSource['inventories']): Inventory['tasks'] {
  return inventories.get('gdrive')?.tasks ?? []
}

/** Of tasks that were read. */
export function plannedOfSelection({ suite, inventory, tasks }: ReadSelection): Planned {
  return { suite, inventory, tasks: tasks.map(({ task: { key, proxy, task } }) => ({ ...key, proxy, needsDrive: needsDrive(task) })) }
}

function nameOf({ domain, id }: TaskKey): string {
  return `${domain}/${id}`
}
