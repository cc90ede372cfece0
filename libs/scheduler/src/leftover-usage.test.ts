import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { replay } from '@osworld-e2b/aggregation'
import type { LedgerEvent, ModelCall } from '@osworld-e2b/contracts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { leftoverUsage, requestsOfOpenAttempts } from './leftover-usage.ts'

const timestamp = '2026-01-01T00:00:00.000Z'
const call: ModelCall = {
  call: 1, started_at: timestamp, seconds: 1, api: 'openai_chat', model: 'm', endpoint: 'QWEN', tries: 2, outcome: 'answered', status: 200, stream: false, tokens: { input: 100, output: 10 }, cost_usd: 0.5,
}
const line = (value: unknown) => `${JSON.stringify(value)}\n`
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'leftover-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

test('the calls and the sandbox of an attempt whose coordinator was killed are read from its files, without the torn last line', async () => {
  await writeFile(join(folder, 'model-calls.jsonl'), `${line(call)}${line({ ...call, call: 2, tries: 1, outcome: 'failed', status: 502, tokens: null, cost_usd: null })}{"call": 3, "tri`)
  await writeFile(
    join(folder, 'relay-events.jsonl'),
    [
      { at: '2026-01-01T00:00:00.000Z', event: 'RELAY_LISTENING' },
      { at: '2026-01-01T00:00:10.000Z', event: 'SANDBOX_CREATED', generation: 1, sandbox_id: 's', seconds: 6 },
      { at: '2026-01-01T00:01:40.000Z', event: 'SANDBOX_CLEANED', generation: 1, sandbox_id: 's', seconds: 1 },
    ].map(line).join(''),
  )
  expect(await leftoverUsage(folder)).toEqual({
    model: { calls: 2, requests: 3, failed_calls: 1, input_tokens: 100, output_tokens: 10, tokens_known_calls: 1, cost_usd: 0.5, cost_known_calls: 1, endpoints: ['QWEN'] },
    sandboxSeconds: 96,
  })
})

test('an attempt that never asked for a sandbox or a model used nothing, and what is reached through a link is not read', async () => {
  expect(await leftoverUsage(join(folder, 'none'))).toEqual({})
  await writeFile(join(folder, 'elsewhere'), line(call))
  await symlink(join(folder, 'elsewhere'), join(folder, 'model-calls.jsonl'))
  expect(await leftoverUsage(folder)).toEqual({})
})

test('only attempts that nobody has closed are counted beside the sums of the ledger', async () => {
  const planned = (id: string): LedgerEvent => ({ event: 'PLANNED', domain: 'os', task_id: id, trial: 1, attempt: 1, timestamp, attempt_dir: `attempts/os/${id}/1.1` })
  const ended: LedgerEvent = { event: 'TERMINAL', domain: 'os', task_id: 'b', trial: 1, attempt: 1, timestamp, outcome: { kind: 'valid', reward: 1 }, cleanup: 'success', seconds: 1, steps: 1 }
  for (const id of ['a', 'b']) {
    await mkdir(join(folder, `attempts/os/${id}/1.1`), { recursive: true })
    await writeFile(join(folder, `attempts/os/${id}/1.1/model-calls.jsonl`), line(call))
  }
  expect(await requestsOfOpenAttempts(folder, replay([planned('a'), planned('b'), ended]))).toBe(2)
})
