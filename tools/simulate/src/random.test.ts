import { expect, test } from 'vitest'
import { createRandom } from './random.ts'

const numbers = (seed: string, count: number) => {
  const random = createRandom(seed)
  return Array.from({ length: count }, () => random.uniform())
}

test('one seed gives one stream, and another seed another', () => {
  expect(numbers('a', 5)).toEqual(numbers('a', 5))
  expect(numbers('a', 5)).not.toEqual(numbers('b', 5))
})

test('numbers are even in [0, 1): each tenth holds a tenth of 100,000', () => {
  const tenths = new Array<number>(10).fill(0)
  for (const number of numbers('tenths', 100_000)) tenths[Math.floor(number * 10)] = (tenths[Math.floor(number * 10)] ?? 0) + 1
  for (const count of tenths) expect(Math.abs(count - 10_000)).toBeLessThan(400)
})

test('first numbers of seeds that differ in one letter are even too', () => {
  const firsts = Array.from({ length: 10_000 }, (_, index) => createRandom(`1 attempt office/task-${index}#1.1`).uniform())
  expect(firsts.filter((number) => number < 0.02).length).toBeGreaterThan(150)
  expect(firsts.filter((number) => number < 0.02).length).toBeLessThan(250)
})
