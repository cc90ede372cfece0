import { afterEach, beforeEach, expect, test } from 'vitest'
import { connectSandboxes, LeaseError, type Sandboxes } from '../src/index.ts'
import { answer, apiError, createdBody, startFakeE2b, until, type Call, type FakeE2b } from './fake-e2b.ts'

const request = { template: 'base:00000000-0000-4000-8000-000000000000', metadata: { run: 'r1', attempt: 'a 1&2' }, timeoutSeconds: 60 }
const timings = { createTimeoutMs: 1_000, createGraceMs: 200, orphanSearchMs: 300, killDeadlineMs: 1_000, pollMs: 20 }

let fake: FakeE2b
let sandboxes: Sandboxes
beforeEach(async () => {
  fake = await startFakeE2b()
  sandboxes = connectSandboxes(fake.connection, timings)
})
afterEach(() => fake.close())

const isCreate = ({ route }: Call): boolean => route === 'POST /v2/sandboxes'

/** Makes the sandbox as the server would, and then fails the call. */
function failAfterCreating(fail: (call: Call) => true): void {
  fake.fault = (call) => {
    if (!isCreate(call)) return false
    fake.create(call.body['metadata'] as Record<string, string>)
    return fail(call)
  }
}

async function failure(creating: Promise<unknown>): Promise<LeaseError> {
  const error: unknown = await creating.then(() => undefined, (reason: unknown) => reason)
  if (error instanceof LeaseError) return error
  throw new Error('A LeaseError was expected.', { cause: error })
}

test('a create states its time to live, kills at its end, keeps ports private and masks the Host', async () => {
  const lease = await sandboxes.create(request)
  expect(fake.bodies[0]).toMatchObject({
    templateID: request.template, timeout: 60, autoPause: false, metadata: request.metadata,
    network: { allowPublicTraffic: false, maskRequestHost: 'localhost:${PORT}' },
  })
  expect(await lease.kill()).toBe('success')
})

test('every create has a key of its own in its metadata', async () => {
  const leases = await Promise.all([sandboxes.create(request), sandboxes.create(request)])
  const keys = [...fake.sandboxes.values()].map(({ metadata }) => metadata['osworld_e2b_create'])
  expect(new Set(keys).size).toBe(2)
  for (const lease of leases) await lease.kill()
})

test.each([
  { status: 401, sentence: 'the API refused the key (401)' },
  { status: 404, sentence: 'the API does not know what was asked for (404: no)' },
  { status: 400, sentence: 'the API answered 400: no' },
  { status: 503, sentence: 'the service has no capacity at the moment (503)' },
])('a create refused with $status says why, and is not searched for an orphan', async ({ status, sentence }) => {
  fake.fault = ({ response }) => apiError(response, status, 'no')
  const error = await failure(sandboxes.create(request))
  expect(error.code).toBe('sandbox_create_failed')
  expect(error.message).toContain(sentence)
  expect(fake.calls).toEqual(['POST /v2/sandboxes'])
})

test('too many sandboxes at a time is told from making them too fast', async () => {
  fake.fault = ({ response }) => apiError(response, 429, 'you have reached the maximum number of concurrent E2B sandboxes')
  expect((await failure(sandboxes.create(request))).message).toContain('as many sandboxes as it may at a time')
  fake.fault = ({ response }) => apiError(response, 429, 'slow down')
  expect((await failure(sandboxes.create(request))).message).toContain('faster than it may')
})

test('a local server that ends in the middle of a create leaves nothing to search for', async () => {
  fake.fault = ({ route, response }) => {
    if (route !== 'POST /v2/sandboxes') return false
    void fake.close()
    return response.destroy(), true
  }
  const error = await failure(sandboxes.create(request))
  expect(error.message).toContain('no sandbox was left behind')
  fake = await startFakeE2b()
})

test('a server that does not answer at all is named as such', async () => {
  await fake.close()
  expect((await failure(sandboxes.create(request))).message).toContain('ECONNREFUSED')
  fake = await startFakeE2b()
})

test.each([
  { title: 'answered 500', fail: ({ response }: Call) => apiError(response, 500, 'Failed to place sandbox') },
  { title: 'cut off', fail: ({ response }: Call) => (response.destroy(), true as const) },
  { title: 'never answered', fail: () => true as const },
])('the sandbox of a create that was $title is found by its key and killed, and no other', async ({ fail }) => {
  const other = fake.create(request.metadata)
  failAfterCreating(fail)
  const error = await failure(sandboxes.create(request))
  expect(error.code).toBe('sandbox_create_failed')
  expect(error.message).toContain('the sandbox that was left behind is killed')
  expect([...fake.sandboxes.keys()]).toEqual([other.id])
})

test('a sandbox that appears only after its create failed is killed too', async () => {
  fake.fault = (call) => {
    if (!isCreate(call)) return false
    setTimeout(() => fake.create(call.body['metadata'] as Record<string, string>), 100)
    return apiError(call.response, 504, 'sandbox_placement_timeout')
  }
  expect((await failure(sandboxes.create(request))).message).toContain('killed')
  expect(fake.sandboxes.size).toBe(0)
})

test('when nothing can be found out, the message says that a sandbox may be left', async () => {
  fake.fault = ({ response }) => apiError(response, 500, 'down')
  expect((await failure(sandboxes.create(request))).message).toContain('may be left behind')
})

test('a sandbox whose ports would be open to everybody is killed and refused', async () => {
  fake.fault = (call) => {
    if (!isCreate(call)) return false
    return answer(call.response, 201, { ...createdBody(fake.create(call.body['metadata'] as Record<string, string>)), trafficAccessToken: null })
  }
  expect((await failure(sandboxes.create(request))).message).toContain('no traffic token')
  expect(fake.sandboxes.size).toBe(0)
})

test('a stop during a create waits for it and kills what it made', async () => {
  const stop = new AbortController()
  fake.fault = async (call) => {
    if (isCreate(call)) {
      stop.abort()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return false
  }
  expect((await failure(sandboxes.create({ ...request, signal: stop.signal }))).code).toBe('interrupted')
  expect(fake.sandboxes.size).toBe(0)
})

test('a stop during a create that hangs gives it up after a while and hunts for its sandbox', async () => {
  const stop = new AbortController()
  failAfterCreating(() => {
    stop.abort()
    return true
  })
  const error = await failure(sandboxes.create({ ...request, signal: stop.signal }))
  expect(error.code).toBe('interrupted')
  expect(error.message).toContain('called off')
  expect(fake.sandboxes.size).toBe(0)
})

test('killMatching kills all that match and nothing else, and tells what it could not kill', async () => {
  const mine = [fake.create({ run: 'r1', attempt: '1' }), fake.create({ run: 'r1', attempt: '2' })].map(({ id }) => id)
  const other = fake.create({ run: 'r2' })
  expect(await sandboxes.killMatching({ run: 'r1' })).toEqual({ found: mine, killed: mine, remaining: [] })
  expect([...fake.sandboxes.keys()]).toEqual([other.id])
  fake.fault = ({ route, response }) => route.startsWith('DELETE') && apiError(response, 500, 'stuck')
  expect(await sandboxes.killMatching({ run: 'r2' })).toEqual({ found: [other.id], killed: [], remaining: [other.id] })
})

test('a server that ignores the filter does not make us kill what does not match', async () => {
  const other = fake.create({ run: 'r2' })
  fake.fault = async ({ route, response }) => {
    if (route !== 'GET /v2/sandboxes') return false
    await until(() => true)
    return answer(response, 200, [{ sandboxID: other.id, templateID: 'base', state: 'running', metadata: other.metadata, startedAt: '2026-01-01T00:00:00Z', endAt: '2026-01-01T00:00:00Z', cpuCount: 1, memoryMB: 1, envdVersion: '0.6.4', clientID: 'x' }])
  }
  expect(await sandboxes.killMatching({ run: 'r1' })).toEqual({ found: [], killed: [], remaining: [] })
  expect(fake.sandboxes.size).toBe(1)
})

test('killing without a filter is refused', async () => {
  await expect(sandboxes.killMatching({})).rejects.toMatchObject({ code: 'filter_refused' })
})

test('kill by id tells whether there was such a sandbox', async () => {
  const { id } = fake.create({})
  expect(await sandboxes.kill(id)).toBe(true)
  expect(await sandboxes.kill(id)).toBe(false)
})
