import type { DoctorCheck } from '@osworld-e2b/contracts'
import { openFolderCare } from '@osworld-e2b/local-e2b'
import { bytesText } from '../clean/bytes-text.ts'
import { type CleaningFacts, ownAccount } from '../clean/cleaning-facts.ts'
import { planCleaning } from '../clean/plan-cleaning.ts'
import { pathsOf, sizeOf, sumOf } from '../clean/sizes.ts'
import { advised } from './check.ts'

/** Sizes are told as far as they are known after this time. */
const measureMs = 700

/** What `osworld clean` would remove now: how many things, and how big as far as a moment tells. */
export async function staleCheck(facts: CleaningFacts, environment: NodeJS.ProcessEnv): Promise<DoctorCheck> {
  const { removals } = planCleaning(facts, { all: false })
  const care = await openFolderCare({ dataFolder: facts.places.dataFolder, account: ownAccount(), environment })
  try {
    const sizes = await care.measure(pathsOf(removals), measureMs)
    return staleLine(removals.map((removal) => sizeOf(removal, sizes)))
  } finally {
    await care.close()
  }
}

export function staleLine(sizes: readonly (number | null)[]): DoctorCheck {
  if (sizes.length === 0) return advised({ need: 'nothing stale', found: 'nothing that `osworld clean` would remove' }, undefined)
  const size = `${sizes.includes(null) ? 'at least ' : ''}${bytesText(sumOf(sizes.map((bytes) => ({ bytes }))))}`
  return advised({ need: 'nothing stale', found: `${sizes.length} ${sizes.length === 1 ? 'thing' : 'things'}, ${size}` }, 'npx osworld clean --dry-run lists them, npx osworld clean removes them')
}
