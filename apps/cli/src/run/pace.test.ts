import { expect, test } from 'vitest'
import { durationText, paceOf, paceText } from './pace.ts'

const input = { planned: 14, scoredBefore: 0, scoredNow: 0, unscored: 0, elapsedSeconds: 60 }

test('before the first score there is no rate and no estimate', () => {
  expect(paceText(paceOf(input))).toBe('[0/14 scored]')
})

test('rate and estimate come from this start of the run alone, the counts from all of it', () => {
  const pace = paceOf({ ...input, scoredBefore: 4, scoredNow: 5, unscored: 1, elapsedSeconds: 120 })
  expect(pace).toEqual({ scored: 9, planned: 14, unscored: 1, perMinute: 2.5, etaSeconds: 120 })
  expect(paceText(pace)).toBe('[9/14 scored, 1 without a score, 2.5 a minute, about 2 min left]')
})

test('once all is scored nothing is left to estimate', () => {
  expect(paceText(paceOf({ ...input, scoredNow: 14 }))).toBe('[14/14 scored, 14.0 a minute]')
})

test.each([
  [42.4, '42 s'],
  [89, '89 s'],
  [95, '2 min'],
  [7_140, '119 min'],
  [9_000, '2 h 30 min'],
])('%d seconds read as %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text)
})
