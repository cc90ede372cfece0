import { setTimeout as wait } from 'node:timers/promises'
import type { ControlPlane } from './control-plane.ts'
import { LeaseError } from './lease-error.ts'
import type { SandboxTimings } from './timings.ts'

export interface KillReport {
  /** Ids that were ever listed. */
  readonly found: readonly string[]
  /** Ids that are listed no more. */
  readonly killed: readonly string[]
  /** Ids that the last list still held. */
  readonly remaining: readonly string[]
}

/** Kills every sandbox whose metadata holds these pairs and lists again until none is left or the time is up. */
export async function killMatching(plane: ControlPlane, metadata: Readonly<Record<string, string>>, timings: SandboxTimings): Promise<KillReport> {
  if (Object.keys(metadata).length === 0) {
    throw new LeaseError('filter_refused', 'Sandboxes are killed by their metadata, and no pair was given: that would be every sandbox of the account.')
  }
  const deadline = performance.now() + timings.killDeadlineMs
  const found = new Set<string>()
  for (let round = 0; ; round++) {
    if (round > 1) await wait(timings.pollMs)
    const listed = (await plane.list(metadata)).map(({ id }) => id)
    for (const id of listed) found.add(id)
    const settled = listed.length === 0 || performance.now() > deadline
    if (settled) return { found: [...found], killed: [...found].filter((id) => !listed.includes(id)), remaining: listed }
    // A failed kill shows in the next list, which is what counts.
    await Promise.allSettled(listed.map((id) => plane.kill(id)))
  }
}

/** Searches for what an unclear create may have left, and kills it; a sandbox can appear after its call failed. */
export async function huntOrphan(plane: ControlPlane, metadata: Readonly<Record<string, string>>, timings: SandboxTimings): Promise<'none' | 'killed' | 'unknown'> {
  const deadline = performance.now() + timings.orphanSearchMs
  let lastLookFailed = true
  do {
    try {
      const { found, remaining } = await killMatching(plane, metadata, timings)
      if (found.length > 0) return remaining.length === 0 ? 'killed' : 'unknown'
      lastLookFailed = false
    } catch (error) {
      if (plane.explain(error).serverIsGone) return 'none'
      lastLookFailed = true
    }
    await wait(timings.pollMs)
  } while (performance.now() < deadline)
  return lastLookFailed ? 'unknown' : 'none'
}
