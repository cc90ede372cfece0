import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelUsage } from '@osworld-e2b/contracts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { AttemptProcesses, ModelSession } from '../src/index.ts'
import { runFaulty } from './faults-run.ts'

let runFolder: string
beforeEach(async () => {
  runFolder = await mkdtemp(join(tmpdir(), 'faults-run-'))
})
afterEach(() => rm(runFolder, { recursive: true, force: true }))

const usage: ModelUsage = { calls: 2, requests: 3, failed_calls: 1, input_tokens: 100, output_tokens: 10, tokens_known_calls: 1, cost_usd: 0.25, cost_known_calls: 1, endpoints: ['one'] }

/** Opens a session an attempt: each is told how its calls end. */
function sessions(failures: readonly (string | undefined)[]) {
  const opened: AbortController[] = []
  let closed = 0
  const openModel = (): ModelSession => {
    const failure = failures[opened.length]
    const swallowed = new AbortController()
    opened.push(swallowed)
    return {
      environment: { MODEL_KEY: 'for this attempt alone' },
      swallowed: swallowed.signal,
      usage: () => usage,
      close: () => {
        closed += 1
        return Promise.resolve({ usage, failure })
      },
    }
  }
  return { openModel: openModel satisfies AttemptProcesses['openModel'], swallow: (text: string) => opened.at(-1)?.abort(new Error(text)), counts: () => ({ opened: opened.length, closed }) }
}

test('a failure that the agent swallowed ends its attempt at once, and the next one has the score', async () => {
  const { openModel, swallow, counts } = sessions([])
  const { result, reports } = await runFaulty({ runFolder, tasks: [{ id: 'a', attempts: ['hangs-in-agent', 'valid'] }], maxAttempts: 2 }, {
    parts: { openModel },
    onEvent: (event) => {
      if (event.type === 'attempt_phase' && event.phase === 'agent' && event.identity.attempt === 1) swallow('The model did not answer: 503.')
    },
  })
  expect(reports('a').map(({ outcome }) => outcome)).toEqual([{ kind: 'invalid', reason: 'model_unavailable', phase: 'agent', message: 'The model did not answer: 503.' }, { kind: 'valid', reward: 1 }])
  expect(result.aggregate).toMatchObject({ complete: true, invalid_by_reason: { model_unavailable: 1 } })
  expect(counts()).toEqual({ opened: 2, closed: 2 })
})

test('a failure that shows only at the end takes the place of the reward', async () => {
  const { openModel } = sessions(['The last call failed for good.', undefined])
  const { result, reports } = await runFaulty({ runFolder, tasks: [{ id: 'a' }], maxAttempts: 2 }, { parts: { openModel } })
  expect(reports('a').map(({ outcome }) => outcome)).toEqual([{ kind: 'invalid', reason: 'model_unavailable', phase: 'agent', message: 'The last call failed for good.' }, { kind: 'valid', reward: 1 }])
  expect(result.aggregate).toMatchObject({ complete: true, reward_sum: 1 })
})

test('a failure comes before what followed from it, which is kept beside it', async () => {
  const { openModel } = sessions(['The last call failed for good.'])
  const { reports } = await runFaulty({ runFolder, tasks: [{ id: 'a', attempts: ['random-bytes'] }] }, { parts: { openModel } })
  expect(reports('a')[0]?.outcome).toMatchObject({
    kind: 'invalid',
    reason: 'model_unavailable',
    message: 'The last call failed for good.',
    later: [{ reason: 'runner_exit', phase: 'agent', message: 'The attempt wrote a line that is not JSON to its control socket.' }],
  })
})

test('what the calls used stands in the end of each attempt, and their sum in the aggregate', async () => {
  const { openModel } = sessions(['The last call failed for good.'])
  const { result, ledger } = await runFaulty({ runFolder, tasks: [{ id: 'a' }, { id: 'b' }], maxAttempts: 2, numEnvs: 1 }, { parts: { openModel } })
  const ends = ledger.filter((event) => event.event === 'TERMINAL')
  expect(ends.map(({ model }) => model)).toEqual([usage, usage, usage])
  expect(result.aggregate.used).toMatchObject({ model: { calls: 6, requests: 9, failed_calls: 3, input_tokens: 300, output_tokens: 30, tokens_known_calls: 3, cost_usd: 0.75, cost_known_calls: 3, endpoints: ['one'] } })
})
