import { expect, test } from 'vitest'
import { type Figures, spreadsOf } from './figures.ts'
import { tableOf } from './table.ts'
import { targetLines } from './targets.ts'

const figures: Figures = { sandboxes: 50, wallSeconds: 7_140, utilisation: 0.9, costUsd: 31, discardedShare: 0.02, occupiedShare: 0.8, attempts: 370, coverage: 1, leastSeconds: 6_600 }
const slower: Figures = { ...figures, wallSeconds: 9_060, discardedShare: 0.1, attempts: 371 }

test('the table shows means with their ranges, and one figure where all seeds agree', () => {
  expect(tableOf([spreadsOf([figures, slower])]).split('\n')).toEqual([
    'sandboxes   wall clock h:mm  least possible  utilisation    cost             discarded  occupied         attempts  coverage',
    '       50  2:15 (1:59–2:31)            1:50       90.0 %  $31.00  6.0 % (2.0 %–10.0 %)    80.0 %  370.5 (370–371)   100.0 %',
    '',
  ])
})

test('each target is said to be met or missed by the mean of the seeds', () => {
  expect(targetLines([spreadsOf([figures, slower])], { tasks: 361, trials: 1 })).toEqual([
    '361 tasks at 50 sandboxes, wall clock: 2.25 h, target under 2 h: missed',
    '361 tasks at 50 sandboxes, cost: $31.00, target under $45: met',
    '361 tasks at 50 sandboxes, utilisation: 90.0 %, target at least 85 %: met',
    '361 tasks at 50 sandboxes, discarded: 6.0 %, target under 5 %: missed',
    'The reason: spread evenly the work takes 1.83 h, but places for sandboxes are empty for 20 % of the time, most of it at the end, while the last long attempts run.',
  ])
})

test('a campaign of another size has no targets', () => {
  expect(targetLines([spreadsOf([figures])], { tasks: 10, trials: 1 })).toEqual([])
  expect(targetLines([spreadsOf([{ ...figures, sandboxes: 8 }])], { tasks: 361, trials: 1 })).toEqual([])
})
