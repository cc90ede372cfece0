import { expect, test } from 'vitest'
import { durationText, paceText } from './pace.ts'

const start = { planned: 14, valid: 0, failed: 0, per_minute: null, eta_seconds: null }

test('before the first score there is no rate and no estimate', () => {
  expect(paceText(start)).toBe('[0/14 scored]')
})

test('what is known is told', () => {
  expect(paceText({ ...start, valid: 9, failed: 1, per_minute: 2.5, eta_seconds: 120 })).toBe('[9/14 scored, 1 without a score, 2.5 a minute, about 2 min left]')
})

test('once all is scored nothing is left to estimate', () => {
  expect(paceText({ ...start, valid: 14, per_minute: 14, eta_seconds: 0 })).toBe('[14/14 scored, 14.0 a minute]')
})

test.each([
  [42.4, '42 s'],
  [89, '89 s'],
  [95, '2 min'],
  [7_140, '119 min'],
  [9_000, '2 h 30 min'],
  [172_740, '47 h 59 min'],
  [200_000, '2 d 7 h'],
])('%d seconds read as %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text)
})
