import { join } from 'node:path'
import { expect, test } from 'vitest'
import { workspace } from '../workspace.ts'
import { defaultNumEnvs, parseRunOptions, type RunArguments } from './options.ts'

const given: RunArguments = {
  agent: 'scripted',
  scripts: 'solve',
  trials: '1',
  maxSteps: '100',
  maxAttempts: '3',
  attemptTimeout: '1800',
  timing: 'settled',
  profile: 'package-1.0.2',
  record: true,
  json: false,
}
const parse = (change: Partial<RunArguments>) => parseRunOptions({ ...given, ...change }, { HOME: '/home/somebody' }, new Date('2026-11-30T01:02:03.456Z'))

test('without a suite or tasks it is the starter suite, in a new run folder, with sandboxes in the user\'s cache', () => {
  const options = parse({})
  expect(options.source).toEqual({ kind: 'suite', folder: join(workspace.suites, 'starter') })
  expect(options.runId).toMatch(/^20261130T010203Z-[0-9a-f]{8}$/)
  expect(options.dataFolder).toBe('/home/somebody/.cache/osworld-e2b/local-e2b')
})

test.each([
  [{ suite: 'starter', tasks: 'tasks' }, /--suite and --tasks exclude each other/],
  [{ suite: '' }, /--suite needs a name/],
  [{ agent: 'gpt' }, /--agent gpt is unknown; it takes scripted or none/],
  [{ timing: 'fast' }, /--timing fast is unknown/],
  [{ numEnvs: '0' }, /--num-envs 0 is not a whole number/],
  [{ trials: '1.5' }, /--trials 1\.5 is not a whole number/],
  [{ trials: '0x2' }, /--trials 0x2 is not a whole number/],
  [{ attemptTimeout: '3000000' }, /--attempt-timeout 3000000 is not a whole number from 1 to 86400/],
  [{ runId: '../elsewhere' }, /is not a plain folder name/],
  [{ template: 'osworld:latest' }, /--template osworld:latest is not name:build_id/],
] as const)('%o is refused in a sentence that names the flag', (change, sentence) => {
  expect(() => parse(change)).toThrow(sentence)
})

test.each([
  [16, 64 * 2 ** 30, 8],
  [2, 64 * 2 ** 30, 2],
  [16, 5 * 2 ** 30, 2],
  [4, 2 ** 29, 1],
])('with %i cores and %i bytes free, %i attempts run at a time', (cores, bytes, expected) => {
  expect(defaultNumEnvs(cores, bytes)).toBe(expected)
})
