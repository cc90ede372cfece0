import { targetSandboxes, targetTasks } from './command-line.ts'
import type { Spreads } from './figures.ts'

interface Target {
  readonly what: string
  readonly aim: string
  readonly value: (row: Spreads) => { readonly text: string; readonly isMet: boolean }
}

const targets: readonly Target[] = [
  { what: 'wall clock', aim: 'under 2 h', value: ({ wallSeconds: { mean } }) => ({ text: `${(mean / 3_600).toFixed(2)} h`, isMet: mean < 7_200 }) },
  { what: 'cost', aim: 'under $45', value: ({ costUsd: { mean } }) => ({ text: `$${mean.toFixed(2)}`, isMet: mean < 45 }) },
  { what: 'utilisation', aim: 'at least 85 %', value: ({ utilisation: { mean } }) => ({ text: `${(mean * 100).toFixed(1)} %`, isMet: mean >= 0.85 }) },
  { what: 'discarded', aim: 'under 5 %', value: ({ discardedShare: { mean } }) => ({ text: `${(mean * 100).toFixed(1)} %`, isMet: mean < 0.05 }) },
]

/** Each target beside the mean of the seeds, for the size that they are set for, and what keeps a wall clock from its target. */
export function targetLines(rows: readonly Spreads[], size: { readonly tasks: number; readonly trials: number }): readonly string[] {
  const row = rows.find(({ sandboxes }) => sandboxes === targetSandboxes)
  if (row === undefined || size.tasks !== targetTasks || size.trials !== 1) return []
  const lines = targets.map(({ what, aim, value }) => {
    const { text, isMet } = value(row)
    return `${targetTasks} tasks at ${targetSandboxes} sandboxes, ${what}: ${text}, target ${aim}: ${isMet ? 'met' : 'missed'}`
  })
  return targets[0]?.value(row).isMet === true ? lines : [...lines, reasonOf(row)]
}

function reasonOf({ leastSeconds, occupiedShare }: Spreads): string {
  const [hours, empty] = [leastSeconds.mean / 3_600, (1 - occupiedShare.mean) * 100]
  return `The reason: spread evenly the work takes ${hours.toFixed(2)} h, but places for sandboxes are empty for ${empty.toFixed(0)} % of the time, most of it at the end, while the last long attempts run.`
}
