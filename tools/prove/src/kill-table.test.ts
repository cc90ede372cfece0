import { expect, test } from 'vitest'
import { absences, boundaries, cells, nameOfCell, victims } from './kill-table.ts'

test('every victim at every boundary is a cell or says why it is none, never both', () => {
  const named = [...cells, ...absences].map(nameOfCell).sort()
  expect(named).toEqual(victims.flatMap((victim) => boundaries.map((boundary) => `${victim}:${boundary}`)).sort())
})
