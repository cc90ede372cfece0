import { expect, test } from 'vitest'
import { Bursts } from './bursts.ts'

const hourMs = 3_600_000
const bursts = new Bursts('seed', 60_000)
const [first] = bursts.between(0, hourMs)
if (first === undefined) throw new Error('There is no burst in the first hour.')

test('every hour holds one whole burst', () => {
  const hours = [...bursts.between(0, 100 * hourMs)].map(({ startMs, endMs }) => ({ of: Math.floor(startMs / hourMs), to: Math.floor((endMs - 1) / hourMs), lengthMs: endMs - startMs }))
  expect(hours).toHaveLength(100)
  for (const [index, { of, to, lengthMs }] of hours.entries()) {
    expect([of, to]).toEqual([index, index])
    expect(lengthMs).toBeCloseTo(60_000, 3)
  }
})

test('work stands still in a burst', () => {
  expect(bursts.finish(first.startMs - 1_000, 2_000)).toBeCloseTo(first.endMs + 1_000, 3)
  expect(bursts.workIn(first.startMs - 1_000, first.endMs + 1_000)).toBeCloseTo(2_000, 3)
})

test('work that begins in a burst begins when it is over', () => {
  expect(bursts.finish(first.startMs + 10, 500)).toBeCloseTo(first.endMs + 500, 3)
})

test('work before a burst is not touched by it', () => {
  expect(bursts.finish(first.startMs - 1_000, 900)).toBeCloseTo(first.startMs - 100, 3)
})
