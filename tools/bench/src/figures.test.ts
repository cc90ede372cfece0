import { expect, test } from 'vitest'
import { describe, summarise } from './figures.ts'

test('the median of an even number of samples lies between the two in the middle', () => {
  expect(summarise({ name: 'a', unit: 's', samples: [4, 1, 3, 2] })).toMatchObject({ minimum: 1, median: 2.5, maximum: 4, count: 4 })
})

test('a missed target is said to be missed', () => {
  expect(describe(summarise({ name: 'create', unit: 's', samples: [5], target: 4 }))).toBe('create: 5.00 s, target under 4 s: missed')
  expect(describe(summarise({ name: 'create', unit: 's', samples: [3.5, 4.4, 3], target: 4 }))).toBe(
    'create: 3.50 s (3.00 to 4.40, 3 runs), target under 4 s: met',
  )
})
