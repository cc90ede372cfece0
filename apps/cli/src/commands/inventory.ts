import { createSuiteInventory, writeJsonAtomic } from '@osworld-e2b/inventory'
import { loadTasks } from '@osworld-e2b/upstream'
import { exitCode, type ExitCode } from '../exit-code.ts'
import { suiteFolder } from '../run/suite-folder.ts'
import { inventoried, inventoryFile } from '../run/suite-inventory.ts'
import { UsageError } from '../usage-error.ts'

/** `osworld inventory SUITE`: writes what the suite's task files are now, and prints the digest of that. */
export async function inventory(suite: string, stdout: NodeJS.WritableStream): Promise<ExitCode> {
  const folder = suiteFolder(suite)
  const { source, tasks } = await loadTasks({ tasksDir: folder })
  if (source.kind !== 'suite') throw new UsageError(`${folder} has no suite.json, so it is no suite; name the folder of one.`)
  const document = createSuiteInventory(source.name ?? '', tasks.map(inventoried))
  await writeJsonAtomic(inventoryFile(folder), document)
  stdout.write(`${document.inventory_sha256}\n`)
  return exitCode.complete
}
