import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Sandbox } from 'e2b'
import { heldEnds, type HeldEnds } from './fixtures/held-ends.ts'
import { removeTestFolders, startTestServer, type TestServer } from './fixtures/test-server.ts'
import { until } from './fixtures/until.ts'

let ends: HeldEnds
let test: TestServer
let sandbox: Sandbox
let path: string

beforeEach(async () => {
  ends = heldEnds()
  test = await startTestServer({ around: (driver) => ends.around(driver) })
  sandbox = await test.e2b.Sandbox.create('base', { timeoutMs: 60_000, metadata: { run: 'ends' } })
  path = `/sandboxes/${sandbox.sandboxId}`
}, 300_000)

afterEach(async () => {
  ends.failures = 0
  ends.release()
  await test.close()
})

afterAll(removeTestFolders)

const stateListed = async (query = ''): Promise<string | undefined> => {
  const items = (await (await test.call('GET', `/v2/sandboxes${query}`)).json()) as { sandboxID: string; state: string }[]
  return items.find(({ sandboxID }) => sandboxID === sandbox.sandboxId)?.state
}
const kill = async (): Promise<number> => (await test.call('DELETE', path)).status

describe('a sandbox whose end is under way', () => {
  it('is known as ending, may not be used, and is gone only when nothing of it is left', async () => {
    const first = kill()
    await until('its end begins', async () => (await stateListed()) === 'ending')
    expect(await (await test.call('GET', path)).json()).toMatchObject({ state: 'ending' })
    expect(await stateListed('?state=running,paused')).toBeUndefined()
    expect((await test.call('POST', `/v2${path}/connect`, {})).status).toBe(404)
    expect((await test.call('POST', `${path}/timeout`, { timeout: 60 })).status).toBe(404)
    expect((await test.call('GET', '/health')).status).toBe(200)
    expect(await sandbox.isRunning()).toBe(false)
    const answered: string[] = []
    const second = kill().then((status) => (answered.push('second'), status))
    // Two round trips later a kill that did not wait would have been answered.
    await stateListed()
    expect(await stateListed()).toBe('ending')
    expect(answered).toEqual([])
    ends.release()
    expect(await Promise.all([first, second])).toEqual([204, 204])
    expect([await stateListed(), await kill()]).toEqual([undefined, 404])
  })

  it('stays known when it could not be ended, and may be killed again', async () => {
    ends.failures = 1
    ends.release()
    const refused = await test.call('DELETE', path)
    expect([refused.status, await refused.json()]).toMatchObject([500, { message: expect.stringContaining('the folder is busy') as string }])
    expect(await stateListed()).toBe('ending')
    expect(await kill()).toBe(204)
    expect(await stateListed()).toBeUndefined()
  })
})

describe('a server that closes', () => {
  it('makes no more sandboxes, and answers for those that are there until they are gone', async () => {
    const closing = test.close()
    const health = await fetch(`${test.server.url}/health`)
    expect([health.status, health.headers.get('connection')]).toEqual([503, 'close'])
    expect((await test.call('POST', '/v2/sandboxes', { templateID: 'base', timeout: 60 })).status).toBe(503)
    expect(await (await test.call('GET', path)).json()).toMatchObject({ state: 'ending' })
    expect(await stateListed('?metadata=run%3Dends')).toBe('ending')
    const killed = kill()
    await stateListed()
    ends.release()
    expect(await killed).toBe(204)
    await closing
    await expect(fetch(`${test.server.url}/health`)).rejects.toThrow()
  })
})
