import { statfs } from 'node:fs/promises'
import type { ModelGateway } from '@osworld-e2b/model-gateway'
import type { Pause } from '@osworld-e2b/scheduler'
import { leastRunBytes, type Place } from './free-space.ts'

const mib = 2 ** 20

/** What keeps a campaign from starting attempts now: a disk that is nearly full, a model that cannot be asked. */
export async function problemsOf(places: readonly Pick<Place, 'what' | 'folder'>[], gateway: ModelGateway | undefined): Promise<readonly Pause[]> {
  const full = await fullDisk(places)
  const pauses: Pause[] = full === undefined ? [] : [full]
  if (gateway !== undefined && !gateway.isHealthy()) pauses.push({ reason: 'model_unhealthy', message: gateway.health.describe() })
  return pauses
}

async function fullDisk(places: readonly Pick<Place, 'what' | 'folder'>[]): Promise<Pause | undefined> {
  for (const { what, folder } of places) {
    const { bavail, bsize } = await statfs(folder)
    const free = bavail * bsize
    if (free < leastRunBytes) return { reason: 'disk_full', message: `The disk of ${what} (${folder}) has ${Math.floor(free / mib)} MiB free, and an attempt needs ${leastRunBytes / mib} MiB: free some.` }
  }
  return undefined
}
