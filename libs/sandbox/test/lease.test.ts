import { afterEach, beforeEach, expect, test } from 'vitest'
import { connectSandboxes, LeaseError, type LeaseRequest, type SandboxLease, type Sandboxes } from '../src/index.ts'
import { apiError, startFakeE2b, until, type FakeE2b } from './fake-e2b.ts'

const timings = { killDeadlineMs: 500, pollMs: 20 }
const request: LeaseRequest = { template: 'base', metadata: { run: 'r1' }, timeoutSeconds: 1 }

let fake: FakeE2b
let sandboxes: Sandboxes
let lease: SandboxLease
let troubles: string[]
beforeEach(async () => {
  fake = await startFakeE2b()
  sandboxes = connectSandboxes(fake.connection, timings)
  troubles = []
  lease = await sandboxes.create({ ...request, onTrouble: (message) => troubles.push(message) })
})
afterEach(async () => {
  fake.fault = () => false
  await lease.kill()
  await fake.close()
})

const extensions = (): number => fake.calls.filter((route) => route.endsWith('/timeout')).length

test('the heartbeat keeps setting the time to live to its full length', async () => {
  await until(() => extensions() >= 2)
  expect(fake.bodies[fake.calls.findIndex((route) => route.endsWith('/timeout'))]).toEqual({ timeout: 1 })
  expect(lease.lost.aborted).toBe(false)
})

test('a sandbox that the API no longer knows is declared lost once, with a sentence', async () => {
  fake.sandboxes.clear()
  await until(() => lease.lost.aborted)
  const reason: unknown = lease.lost.reason
  expect(reason).toBeInstanceOf(LeaseError)
  expect(reason).toMatchObject({ code: 'guest_lost' })
  expect(String(reason)).toContain(lease.id)
})

test('a heartbeat that is refused while the sandbox runs is no loss', async () => {
  fake.fault = ({ route, response }) => route.endsWith('/timeout') && apiError(response, 400, 'Max instance length exceeded')
  await until(() => extensions() >= 6)
  expect(lease.lost.aborted).toBe(false)
  expect(troubles[0]).toContain('Max instance length exceeded')
})

test('an API that is away for the whole time to live means that the sandbox has ended', async () => {
  fake.fault = ({ response }) => apiError(response, 500, 'down')
  expect(await lease.verify()).toBe(true)
  await until(() => lease.lost.aborted)
  expect(String(lease.lost.reason)).toContain('no heartbeat reached the API')
})

test('verify finds a death before the next heartbeat, and a paused sandbox counts as lost', async () => {
  expect(await lease.verify()).toBe(true)
  const held = fake.sandboxes.get(lease.id)
  if (held !== undefined) held.state = 'paused'
  expect(await lease.verify()).toBe(false)
  expect(String(lease.lost.reason)).toContain('paused')
})

test('a kill is believed only when the API no longer knows the sandbox', async () => {
  let kills = 0
  fake.fault = ({ route, response }) => {
    if (!route.startsWith('DELETE')) return false
    kills += 1
    if (kills === 1) return apiError(response, 500, 'busy')
    // The second one is accepted and has no effect.
    if (kills === 2) return response.writeHead(204).end(), true
    return false
  }
  expect(await lease.kill()).toBe('success')
  expect(kills).toBe(3)
  expect(fake.sandboxes.size).toBe(0)
})

test('a kill that never takes effect is reported as failed', async () => {
  fake.fault = ({ route, response }) => route.startsWith('DELETE') && apiError(response, 500, 'stuck')
  expect(await lease.kill()).toBe('failed')
  expect(troubles.at(-1)).toContain('could not be killed')
  lease = await sandboxes.create(request)
})

test('a local server that is gone took its sandboxes with it: a kill is done at once', async () => {
  await fake.close()
  expect(await lease.kill()).toBe('success')
  expect(troubles).toEqual([])
  fake = await startFakeE2b()
})

test('a local server that goes between kill and look leaves nothing either', async () => {
  fake.fault = ({ route, response }) => {
    if (!route.startsWith('DELETE')) return false
    response.once('close', () => void fake.close())
    return response.writeHead(204, { connection: 'close' }).end(), true
  }
  expect(await lease.kill()).toBe('success')
  fake = await startFakeE2b()
})

test.each(['a look', 'a heartbeat'])('a local server that is gone is noticed as a loss by %s', async (how) => {
  await fake.close()
  if (how === 'a look') expect(await lease.verify()).toBe(false)
  await until(() => lease.lost.aborted)
  expect(lease.lost.reason).toMatchObject({ code: 'guest_lost', message: expect.stringContaining('local server') as string })
  fake = await startFakeE2b()
})

test('on another route a refused connection is no news: neither a kill nor a loss', async () => {
  const other = await connectSandboxes({ ...fake.connection, route: 'e2b-compatible' }, timings).create({ ...request, timeoutSeconds: 60 })
  await lease.kill()
  await fake.close()
  expect(await other.verify()).toBe(true)
  expect(await other.kill()).toBe('failed')
  fake = await startFakeE2b()
})

test('after a kill there is neither a heartbeat nor a loss', async () => {
  expect(await lease.kill()).toBe('success')
  await lease.verify()
  expect(lease.lost.aborted).toBe(false)
})

test('an endpoint prints no token', () => {
  const endpoint = lease.endpoint(5000)
  expect(endpoint).toMatchObject({ baseUrl: fake.connection.sandbox_url, host: 'localhost:5000', headers: { 'E2b-Sandbox-Id': lease.id, 'E2b-Sandbox-Port': '5000' } })
  expect(endpoint.trafficToken.reveal()).toBe(`traffic-${lease.id}`)
  expect(JSON.stringify(endpoint)).not.toContain('traffic-')
})
