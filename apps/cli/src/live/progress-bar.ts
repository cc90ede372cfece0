import type { Line, Span } from './spans.ts'

/** Told apart by density too, for terminals without colours. */
const kinds = [
  { cell: '█', tint: 'green' },
  { cell: '▓', tint: 'red' },
  { cell: '▒', tint: 'yellow' },
  { cell: '░', tint: 'dim' },
] as const

/** Valid, failed, running and the rest side by side in `width` columns; whoever is there is seen. */
export function progressBar(counts: readonly [valid: number, failed: number, running: number, rest: number], width: number): Line {
  const cells = share(counts, width)
  return kinds.map(({ cell, tint }, index): Span => ({ text: cell.repeat(cells[index] ?? 0), tint }))
}

/** Largest remainders; then the widest gives a cell to whoever rounds to none. */
function share(counts: readonly number[], width: number): readonly number[] {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return [0, 0, 0, width]
  const exact = counts.map((count) => (count * width) / total)
  const cells = exact.map(Math.floor)
  const byRemainder = exact.map((value, index) => ({ index, rest: value % 1 })).sort((a, b) => b.rest - a.rest)
  const missing = width - cells.reduce((sum, count) => sum + count, 0)
  for (const { index } of byRemainder.slice(0, missing)) cells[index] = (cells[index] ?? 0) + 1
  for (const [index, count] of counts.entries()) if (count > 0 && cells[index] === 0) giveOne(cells, index)
  return cells
}

function giveOne(cells: number[], to: number): void {
  const widest = cells.indexOf(Math.max(...cells))
  if ((cells[widest] ?? 0) < 2) return
  cells[widest] = (cells[widest] ?? 0) - 1
  cells[to] = 1
}
