import { expect, test } from 'vitest'
import { defaultAssumptions } from './assumptions.ts'
import { draw, figuresOf, type LogNormal, twinOf, withMean, withMedian } from './log-normal.ts'
import { createRandom } from './random.ts'

const draws = 100_000

function sampled(distribution: LogNormal, seed: string) {
  const random = createRandom(seed)
  const values = Array.from({ length: draws }, () => draw(distribution, random)).sort((a, b) => a - b)
  return { mean: values.reduce((total, value) => total + value, 0) / draws, median: values[draws / 2] ?? 0, p95: values[draws * 0.95] ?? 0 }
}

test('the mean and the 95th percentile asked for are those of the distribution', () => {
  const figures = figuresOf(withMean({ mean: 15, p95: 35 }))
  expect(figures.mean).toBeCloseTo(15, 9)
  expect(figures.p95).toBeCloseTo(35, 9)
  expect(figures.median).toBeCloseTo(12.23, 2)
})

test('the twin has the same mean and 95th percentile, and another median', () => {
  const figures = figuresOf(twinOf(withMean({ mean: 15, p95: 35 })))
  expect(figures.mean).toBeCloseTo(15, 9)
  expect(figures.p95).toBeCloseTo(35, 9)
  expect(figures.median).toBeCloseTo(0.4475, 4)
})

test('of the two distributions with that mean and percentile the narrow one is taken', () => {
  expect(withMean({ mean: 15, p95: 35 }).sigma).toBeCloseTo(0.6394, 4)
})

test('the median and the 95th percentile asked for are those of the distribution', () => {
  const figures = figuresOf(withMedian({ median: 6, p95: 20 }))
  expect(figures.median).toBeCloseTo(6, 9)
  expect(figures.p95).toBeCloseTo(20, 9)
})

test.each([
  { what: 'attempt lengths', distribution: defaultAssumptions.attemptSeconds },
  { what: 'times from create to ready', distribution: defaultAssumptions.readySeconds },
])('100,000 drawn $what have the mean, median and 95th percentile of their distribution within two percent', ({ what, distribution }) => {
  const expected = figuresOf(distribution)
  const seen = sampled(distribution, what)
  for (const figure of ['mean', 'median', 'p95'] as const) expect(Math.abs(seen[figure] / expected[figure] - 1)).toBeLessThan(0.02)
})
