import { expect, test } from 'vitest'
import { readCommandLine } from './command-line.ts'

const usage = 'use: npm run simulate [-- --sandboxes 8,20,50 --tasks N --trials N --seed N --seeds N --time-to-live SECONDS --json]'

test('without arguments five worlds of a whole suite are simulated for the sizes that have targets', () => {
  expect(readCommandLine([])).toEqual({ isJson: false, seed: 1, seeds: 5, tasks: 361, trials: 1, sandboxes: [8, 20, 50, 100, 1_000], timeToLiveSeconds: undefined })
})

test('everything may be chosen', () => {
  expect(readCommandLine(['--json', '--seed', '7', '--seeds', '2', '--tasks', '10', '--trials', '3', '--sandboxes', '5,6', '--time-to-live', '60'])).toEqual({
    isJson: true,
    seed: 7,
    seeds: 2,
    tasks: 10,
    trials: 3,
    sandboxes: [5, 6],
    timeToLiveSeconds: 60,
  })
})

test.each([
  { args: ['--tasks', 'many'], sentence: `--tasks many is not a whole number from 1 to 10000; ${usage}.` },
  { args: ['--seeds', '0'], sentence: `--seeds 0 is not a whole number from 1 to 1000; ${usage}.` },
  { args: ['--sandboxes', '5,,6'], sentence: `--sandboxes  is not a whole number from 1 to 10000; ${usage}.` },
  { args: ['--seconds', '5'], sentence: `Unknown option '--seconds'; ${usage}.` },
])('$args is refused with one sentence', ({ args, sentence }) => {
  expect(() => readCommandLine(args)).toThrow(expect.objectContaining({ code: 'usage', message: sentence }))
})
