import { afterEach, beforeEach, expect, test } from 'vitest'
import { connectSandboxes, type Sandboxes } from '../src/index.ts'
import { answer, apiError, type FakeE2b, listed, startFakeE2b } from './fake-e2b.ts'

let fake: FakeE2b
let sandboxes: Sandboxes
beforeEach(async () => {
  fake = await startFakeE2b()
  sandboxes = connectSandboxes(fake.connection, { killDeadlineMs: 5_000, pollMs: 20 })
})
afterEach(() => fake.close())

const make = (count: number, metadata: Record<string, string>) => Array.from({ length: count }, () => fake.create(metadata).id)
const lists = (): number => fake.calls.filter((route) => route === 'GET /v2/sandboxes').length

test('a list holds the sandboxes of all pages, each once, and none of other runs', async () => {
  const mine = make(250, { run_uid: 'mine' })
  make(20, { run_uid: 'other' })
  const found = (await sandboxes.list({ run_uid: 'mine' })).map(({ id }) => id)
  expect(found).toHaveLength(250)
  expect(new Set(found)).toEqual(new Set(mine))
  expect(lists()).toBe(3)
})

test('all sandboxes of a run are killed however many pages they fill, and no other run loses one', async () => {
  const mine = make(130, { run_uid: 'mine' })
  const others = make(3, { run_uid: 'other' })
  const { found, killed, remaining } = await sandboxes.killMatching({ run_uid: 'mine' })
  expect([new Set(found), new Set(killed), remaining]).toEqual([new Set(mine), new Set(mine), []])
  expect([...fake.sandboxes.keys()]).toEqual(others)
})

test('a server that answers every token with its first page is asked no longer', async () => {
  make(3, { run_uid: 'mine' })
  fake.fault = ({ route, response }) => {
    if (route !== 'GET /v2/sandboxes') return false
    response.setHeader('x-next-token', 'again')
    return answer(response, 200, [...fake.sandboxes.values()].map(listed))
  }
  expect(await sandboxes.list({ run_uid: 'mine' })).toHaveLength(3)
  expect(lists()).toBe(2)
})

test('a failed list is explained in half a sentence', async () => {
  fake.fault = ({ response }) => apiError(response, 500, 'down')
  const error: unknown = await sandboxes.list({ run_uid: 'mine' }).catch((failure: unknown) => failure)
  expect(sandboxes.explain(error)).toMatch(/^the API answered .*500.*down$/)
})
