import { expect, test } from 'vitest'
import { lastScreenshot } from './last-screenshot.ts'

test.each([
  [['reset.png', 'step_1_before.png', 'evaluated.png', 'step_1_after.png'], 'evaluated.png', 'after evaluation'],
  [['step_10_before.png', 'step_9_after.png', 'reset.png'], 'step_10_before.png', 'before step 10'],
  [['step_2_after.png', 'step_2_before.png'], 'step_2_after.png', 'after step 2'],
  [['.reset.png.1f.tmp', 'reset.png', 'step_x_after.png', 'zebra.png'], 'reset.png', 'at the start'],
])('of %j the last is %s', (names, name, moment) => {
  expect(lastScreenshot(names)).toEqual({ name, moment })
})

test('an attempt that got to no picture has no last one', () => {
  expect(lastScreenshot([])).toBeUndefined()
  expect(lastScreenshot(['notes.txt'])).toBeUndefined()
})
