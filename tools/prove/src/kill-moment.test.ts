import type { LedgerEvent } from '@osworld-e2b/contracts'
import { expect, test } from 'vitest'
import { createMomentWatch, type PhaseLine, readPhaseLine } from './kill-moment.ts'

const key = (id: string) => ({ domain: 'os', task_id: id, trial: 1, attempt: 1, timestamp: '2026-03-04T05:06:07.000Z' })
const dir = (id: string) => `attempts/os/${id}/1.1`
const phase = (id: string, name: PhaseLine['phase']): PhaseLine => ({ type: 'attempt_phase', phase: name, identity: { attemptDir: dir(id) } })
const terminal = (id: string): LedgerEvent => ({ event: 'TERMINAL', ...key(id), outcome: { kind: 'valid', reward: 1 }, cleanup: 'success', seconds: 1, steps: 1 })
const history: readonly (LedgerEvent | PhaseLine)[] = [
  { event: 'RUN_STARTED', timestamp: key('a').timestamp, pid: 1, host: 'h' },
  { event: 'PLANNED', ...key('a'), attempt_dir: dir('a') },
  { event: 'PLANNED', ...key('b'), attempt_dir: dir('b') },
  { event: 'STARTED', ...key('b'), pid: 1, pid_start: '1' },
  phase('b', 'start'),
  phase('b', 'agent'),
  terminal('b'),
  phase('a', 'agent'),
  terminal('a'),
]

test.each([
  ['planned', 1, dir('a')],
  ['started', 3, dir('b')],
  ['start', 4, dir('b')],
  ['agent', 5, dir('b')],
  ['terminal', 6, dir('a')],
  ['run_end', 8, undefined],
] as const)('%s is event %i of a history, of the right attempt', (boundary, index, attemptDir) => {
  const watch = createMomentWatch(boundary, 2)
  const moments = history.map((event) => watch(event))
  expect(moments.findIndex((moment) => moment !== undefined)).toBe(index)
  expect(moments[index]).toEqual({ attemptDir })
})

test('only lines that tell of a phase are read', () => {
  expect(readPhaseLine('{"type":"attempt_phase","phase":"setup","identity":{"domain":"os","attemptDir":"d"}}')).toEqual({ type: 'attempt_phase', phase: 'setup', identity: { attemptDir: 'd' } })
  expect(readPhaseLine('{"type":"run_ended"}')).toBeUndefined()
  expect(readPhaseLine('plain text')).toBeUndefined()
})
