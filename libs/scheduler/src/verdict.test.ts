import { expect, test } from 'vitest'
import { Verdict } from './verdict.ts'

const clean = { cleanup: 'success', cleanupProblem: '', exit: 'exit code 0' } as const

test('a reward that was told stays, whatever interrupts the attempt afterwards', () => {
  const verdict = new Verdict()
  verdict.score(0)
  verdict.fail({ reason: 'interrupted', message: 'The run was stopped.' })
  verdict.score(1)
  expect(verdict.outcome(clean)).toEqual({ kind: 'valid', reward: 0 })
})

test('a cause that came first keeps a later reward from counting', () => {
  const verdict = new Verdict()
  verdict.fail({ reason: 'guest_lost', message: 'gone' })
  verdict.score(1)
  expect(verdict.outcome(clean)).toEqual({ kind: 'invalid', reason: 'guest_lost', message: 'gone' })
})

test('a reward whose sandbox is not shown to be gone does not count', () => {
  const verdict = new Verdict()
  verdict.score(1)
  expect(verdict.outcome({ ...clean, cleanup: 'failed', cleanupProblem: 'still listed' })).toEqual({
    kind: 'invalid',
    reason: 'cleanup_failed',
    message: 'still listed',
  })
})

test('of endless causes the first and ten later ones are kept', () => {
  const verdict = new Verdict()
  for (let index = 0; index < 1000; index += 1) verdict.fail({ reason: 'runner_exit', message: String(index) })
  const outcome = verdict.outcome(clean)
  expect(outcome).toMatchObject({ message: '0' })
  expect(outcome.kind === 'invalid' ? outcome.later : []).toHaveLength(10)
})
