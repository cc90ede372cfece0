import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PackageAgents } from '@osworld-e2b/gates'

/** The agents that a profile's adjustments declare by name; undefined where they declare none. */
export async function readPackageAgents(profileFolder: string): Promise<PackageAgents | undefined> {
  const agents = partOf(JSON.parse(await readFile(join(profileFolder, 'adjustments.json'), 'utf8')), 'agents')
  const byName = partOf(agents, 'by_name')
  if (byName === undefined) return undefined
  const refused = Object.entries(partOf(agents, 'refused') ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return { names: Object.keys(byName), refused: Object.fromEntries(refused) }
}

function partOf(value: unknown, name: string): object | undefined {
  const part: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
  return typeof part === 'object' && part !== null ? part : undefined
}
