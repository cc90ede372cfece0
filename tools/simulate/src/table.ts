import type { Spread, Spreads } from './figures.ts'

const time = (seconds: number) => {
  const minutes = Math.round(seconds / 60)
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}`
}
const percent = (share: number) => `${(share * 100).toFixed(1)} %`
const dollars = (usd: number) => `$${usd.toFixed(2)}`
const count = (value: number) => (Number.isInteger(value) ? String(value) : value.toFixed(1))

const columns: readonly { readonly title: string; readonly cell: (row: Spreads) => string }[] = [
  { title: 'sandboxes', cell: ({ sandboxes }) => sandboxes.toLocaleString('en-US') },
  { title: 'wall clock h:mm', cell: ({ wallSeconds }) => spread(wallSeconds, time) },
  { title: 'least possible', cell: ({ leastSeconds }) => spread(leastSeconds, time) },
  { title: 'utilisation', cell: ({ utilisation }) => spread(utilisation, percent) },
  { title: 'cost', cell: ({ costUsd }) => spread(costUsd, dollars) },
  { title: 'discarded', cell: ({ discardedShare }) => spread(discardedShare, percent) },
  { title: 'occupied', cell: ({ occupiedShare }) => spread(occupiedShare, percent) },
  { title: 'attempts', cell: ({ attempts }) => spread(attempts, count) },
  { title: 'coverage', cell: ({ coverage }) => spread(coverage, percent) },
]

/** Mean, and the range when there is one. */
function spread({ mean, minimum, maximum }: Spread, text: (value: number) => string): string {
  return minimum === maximum ? text(mean) : `${text(mean)} (${text(minimum)}–${text(maximum)})`
}

/** Right-aligned columns, one line a number of sandboxes. */
export function tableOf(rows: readonly Spreads[]): string {
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ cell }) => cell(row)))]
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => (line[index] ?? '').length)))
  return cells.map((line) => `${line.map((cell, index) => cell.padStart(widths[index] ?? 0)).join('  ')}\n`).join('')
}
