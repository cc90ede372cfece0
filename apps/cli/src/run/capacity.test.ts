import { expect, test } from 'vitest'
import { decideNumEnvs } from './capacity.ts'

const gib = 2 ** 30

test.each([
  [16, 64, 8],
  [2, 64, 2],
  [16, 5, 2],
  [4, 1.5, 1],
])('with %i cores and %d GiB free, %i run at a time unless asked otherwise', (cores, free, expected) => {
  expect(decideNumEnvs(undefined, { cores, availableBytes: free * gib }).count).toBe(expected)
})

test('a cap is said, with what caps it and how to change it', () => {
  expect(decideNumEnvs(undefined, { cores: 2, availableBytes: 20 * gib }).note).toBe(
    '2 environments at a time instead of 8, since this machine has 2 cores and 20 GiB of free memory; --num-envs changes it.',
  )
  expect(decideNumEnvs(undefined, { cores: 16, availableBytes: 64 * gib }).note).toBe('8 environments at a time.')
})

test('more than the machine carries is done when asked for, and said', () => {
  expect(decideNumEnvs(4, { cores: 2, availableBytes: 20 * gib })).toEqual({
    count: 4,
    note: '4 environments at a time, as asked; 2 cores and 20 GiB of free memory carry 2 at full speed.',
  })
})

test.each([
  [undefined, 0.5, '1 environment at a time needs at least 1 GiB of memory, and 0.5 GiB are free: close other programs or use a machine with more memory.'],
  [30, 12, '30 environments at a time need at least 30 GiB of memory, and 12 GiB are free: give --num-envs 12 or fewer.'],
])('asked for %s with %d GiB free, it refuses in a sentence', (asked, free, sentence) => {
  expect(() => decideNumEnvs(asked, { cores: 64, availableBytes: free * gib })).toThrow(sentence)
})
