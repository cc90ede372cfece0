import { readdir, readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { AuthenticationError, E2B, RateLimitError, SandboxError, SandboxNotFoundError, type Sandbox } from 'e2b'
import { removeTestFolders, startTestServer, testKey, type TestServer } from './fixtures/test-server.ts'
import { until } from './fixtures/until.ts'

let test: TestServer
const made: Sandbox[] = []

async function create(options: Record<string, unknown> = {}): Promise<Sandbox> {
  const sandbox = await test.e2b.Sandbox.create('base', { timeoutMs: 60_000, ...options })
  made.push(sandbox)
  return sandbox
}

async function listAll(query: Record<string, unknown>): Promise<string[]> {
  const ids: string[] = []
  const paginator = test.e2b.Sandbox.list(query)
  while (paginator.hasNext) ids.push(...(await paginator.nextItems()).map(({ sandboxId }) => sandboxId))
  return ids
}

beforeAll(async () => {
  test = await startTestServer({ limits: { maxConcurrentSandboxes: 4, maxSandboxLifeMs: 3600_000 } })
  await test.call('POST', '/v2/sandboxes', { templateID: 'base', timeout: 1 })
}, 300_000)

afterEach(async () => {
  for (const sandbox of made.splice(0)) await sandbox.kill()
})

afterAll(async () => {
  await test.close()
  await removeTestFolders()
})

describe('a sandbox of the SDK', () => {
  it('runs a command as the template user in its home', async () => {
    const sandbox = await create()
    const result = await sandbox.commands.run('id -un; pwd; hostname')
    expect(result.stdout).toBe('user\n/home/user\nbase\n')
    expect(sandbox.sandboxId).toMatch(/^i[a-z0-9]{20}$/)
  })

  it('is gone after kill, and a second kill says so', async () => {
    const sandbox = await create()
    expect(await sandbox.isRunning()).toBe(true)
    expect(await sandbox.kill()).toBe(true)
    expect(await sandbox.isRunning()).toBe(false)
    expect(await sandbox.kill()).toBe(false)
    await expect(test.e2b.Sandbox.getInfo(sandbox.sandboxId)).rejects.toBeInstanceOf(SandboxNotFoundError)
    await expect(test.e2b.Sandbox.connect(sandbox.sandboxId)).rejects.toBeInstanceOf(SandboxNotFoundError)
  })

  it('gives its environment to every command', async () => {
    const sandbox = await create({ envs: { GREETING: 'hello there' } })
    expect((await sandbox.commands.run('echo "$GREETING"')).stdout).toBe('hello there\n')
    expect((await sandbox.commands.run('echo "$GREETING"', { envs: { GREETING: 'own' } })).stdout).toBe('own\n')
  })

  it('is found by its metadata, newest first and page by page', async () => {
    const metadata = { run: 'a & b', 'key=x': 'ü' }
    const first = await create({ metadata })
    const second = await create({ metadata })
    const other = await create({ metadata: { run: 'c' } })
    expect(await listAll({ query: { metadata }, limit: 1 })).toEqual([second.sandboxId, first.sandboxId])
    expect(await listAll({ query: { metadata: { run: 'c' } } })).toEqual([other.sandboxId])
    expect(await listAll({ query: { metadata: { run: 'none' } } })).toEqual([])
    expect(await listAll({ query: { metadata, state: ['paused'] } })).toEqual([])
    expect(await listAll({ query: { template: 'unknown' } })).toEqual([])
    expect((await test.e2b.Sandbox.getInfo(first.sandboxId)).metadata).toEqual(metadata)
  })

  it('lives as long as the last setTimeout says, and connect never shortens it', async () => {
    const sandbox = await create({ timeoutMs: 600_000 })
    const before = await sandbox.getInfo()
    expect(before.endAt.getTime() - before.startedAt.getTime()).toBe(600_000)
    const again = await test.e2b.Sandbox.connect(sandbox.sandboxId, { timeoutMs: 10_000 })
    expect((await again.getInfo()).endAt).toEqual(before.endAt)
    await sandbox.setTimeout(20_000)
    expect((await sandbox.getInfo()).endAt.getTime()).toBeLessThan(before.endAt.getTime())
    await test.e2b.Sandbox.connect(sandbox.sandboxId, { timeoutMs: 900_000 })
    expect((await sandbox.getInfo()).endAt.getTime()).toBeGreaterThan(before.endAt.getTime())
  })

  it('is killed when its time is over, and a command that ran then says so', async () => {
    const sandbox = await create()
    const running = await sandbox.commands.run('sleep 60', { background: true })
    const waiting = running.wait()
    await sandbox.setTimeout(1)
    await expect(waiting).rejects.toThrow(/killed or reached its end of life/)
    await until('the sandbox is gone', async () => !(await sandbox.isRunning()))
    await until('the sandbox is off the list', async () => !(await listAll({})).includes(sandbox.sandboxId))
  })

  it('lives at most as long as the server allows', async () => {
    const sandbox = await create()
    await expect(sandbox.setTimeout(3601_000)).rejects.toThrow(/Max instance length exceeded/)
  })

  it('is refused with E2B\'s words when too many live', async () => {
    await Promise.all([create(), create(), create(), create()])
    const refused = create()
    await expect(refused).rejects.toBeInstanceOf(RateLimitError)
    await expect(refused).rejects.toThrow(/maximum number of concurrent/)
  })

  it('ends by itself when its processes do', async () => {
    const sandbox = await create()
    const [init = 0, ...others] = await readInitPids(sandbox.sandboxId)
    expect(others).toEqual([])
    process.kill(init, 'SIGKILL')
    await until('the sandbox is off the list', async () => !(await listAll({})).includes(sandbox.sandboxId))
    expect([await sandbox.isRunning(), await sandbox.kill()]).toEqual([false, false])
  })
})

/** Host pids of processes that are pid 1 of this sandbox: its folder's name is in their mounts. */
async function readInitPids(id: string): Promise<number[]> {
  const found: number[] = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    const mounts = await readFile(`/proc/${pid}/mountinfo`, 'utf8').catch(() => '')
    if (/^NSpid:.*\s1$/m.test(status) && mounts.includes(id)) found.push(Number(pid))
  }
  return found
}

describe('the API', () => {
  it('refuses a wrong and a missing key without telling what exists', async () => {
    const wrong = new E2B({ apiKey: `${testKey.slice(0, -1)}f`, apiUrl: test.server.url, sandboxUrl: test.server.url })
    await expect(wrong.Sandbox.create('base')).rejects.toBeInstanceOf(AuthenticationError)
    for (const path of ['/sandboxes', '/no/such/route']) {
      const response = await fetch(`${test.server.url}${path}`)
      expect([response.status, await response.json()]).toMatchObject([401, { code: 401 }])
    }
  })

  it('answers health without a key', async () => {
    expect((await fetch(`${test.server.url}/health`)).status).toBe(200)
  })

  it('creates and connects in the first generation too', async () => {
    const created = await test.call('POST', '/sandboxes', { templateID: 'base', timeout: 30, secure: true })
    const handle = (await created.json()) as { sandboxID: string; envdAccessToken: string; trafficAccessToken: null }
    expect([created.status, handle.trafficAccessToken]).toEqual([201, null])
    const connected = await test.call('POST', `/sandboxes/${handle.sandboxID}/connect`, { timeout: 60 })
    expect([connected.status, await connected.json()]).toMatchObject([200, { envdAccessToken: handle.envdAccessToken }])
    expect((await test.call('POST', `/sandboxes/${handle.sandboxID}/connect`, {})).status).toBe(400)
    expect((await test.call('POST', `/v2/sandboxes/${handle.sandboxID}/connect`)).status).toBe(200)
    expect((await test.call('POST', `/sandboxes/${handle.sandboxID}/refreshes`, { duration: 60 })).status).toBe(204)
    const list = (await (await test.call('GET', '/sandboxes')).json()) as { sandboxID: string }[]
    expect(list.map(({ sandboxID }) => sandboxID)).toContain(handle.sandboxID)
    expect((await test.call('DELETE', `/sandboxes/${handle.sandboxID}`)).status).toBe(204)
  })

  it.each([
    ['a timeout that is no number', { templateID: 'base', timeout: 'long' }, 400, 'timeout'],
    ['a timeout of nothing', { templateID: 'base', timeout: 0 }, 400, 'above 0'],
    ['no template', {}, 400, 'templateID'],
    ['an unknown template', { templateID: 'nobody' }, 404, "'nobody'"],
    ['an unknown tag', { templateID: 'base:v9' }, 404, "'base:v9'"],
    ['pausing at the end', { templateID: 'base', autoPause: true }, 501, 'autoPause'],
    ['volumes', { templateID: 'base', volumeMounts: [{}] }, 501, 'volumes'],
    ['an egress proxy', { templateID: 'base', network: { egressProxy: { address: 'x' } } }, 501, 'egressProxy'],
  ])('refuses to create with %s', async (_, body, status, sentence) => {
    const response = await test.call('POST', '/v2/sandboxes', body)
    const { code, message } = (await response.json()) as { code: number; message: string }
    expect([response.status, code]).toEqual([status, status])
    expect(message).toContain(sentence)
  })

  it('says what it does not offer, with code and status alike', async () => {
    const sandbox = await create()
    const refused = [
      ['POST', `/sandboxes/${sandbox.sandboxId}/pause`],
      ['POST', `/sandboxes/${sandbox.sandboxId}/snapshots`],
      ['POST', `/sandboxes/${sandbox.sandboxId}/fork`],
      ['POST', `/sandboxes/${sandbox.sandboxId}/resume`],
      ['GET', `/sandboxes/${sandbox.sandboxId}/logs`],
      ['GET', '/snapshots'],
      ['POST', '/volumes'],
      ['GET', '/secrets'],
    ] as const
    for (const [method, path] of refused) {
      const response = await test.call(method, path)
      expect([path, response.status, await response.json()]).toMatchObject([path, 501, { code: 501 }])
    }
    await expect(sandbox.pause()).rejects.toBeInstanceOf(SandboxError)
  })

  it('records a network update and keeps what guards the ports', async () => {
    const sandbox = await create({ network: { allowPublicTraffic: false } })
    const update = { allowOut: ['10.0.0.0/8'], denyOut: ['0.0.0.0/0'] }
    expect((await test.call('PUT', `/sandboxes/${sandbox.sandboxId}/network`, update)).status).toBe(204)
    expect((await sandbox.getInfo()).network).toMatchObject({ ...update, allowPublicTraffic: false })
    expect(await sandbox.getMetrics()).toEqual([])
  })
})
