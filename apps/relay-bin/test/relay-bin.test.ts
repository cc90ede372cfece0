import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { relayEventSchema, type RelayConfigure, type RelayEventLine } from '@osworld-e2b/contracts'
import { connectSandboxes, type SandboxLease } from '@osworld-e2b/sandbox'
import { startDetour } from './detour.ts'
import { startLocalServer, type LocalServer } from './local-server.ts'
import { bundleRelay, eventually, RelayProcess } from './relay-process.ts'

let server: LocalServer
let program: string
let folder: string
const running: RelayProcess[] = []
let count = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'relay-bin-'))
  program = await bundleRelay()
  server = await startLocalServer()
}, 300_000)

afterAll(async () => {
  for (const relay of running) {
    relay.child.kill('SIGKILL')
    await relay.exitCode()
  }
  await server.close()
  await rm(folder, { recursive: true, force: true })
  await rm(program, { force: true })
})

function launch(): RelayProcess {
  const relay = new RelayProcess(program)
  running.push(relay)
  return relay
}

function configureFor(changes: Partial<RelayConfigure> = {}): RelayConfigure {
  const attempt = String(++count)
  return {
    type: 'configure',
    connection: server.connection,
    template: server.readyTemplate,
    metadata: { run: 'relay-test', attempt },
    sandbox_timeout_seconds: 60,
    ready_deadline_seconds: 30,
    screen: { width: 1920, height: 1080 },
    events_file: join(folder, `${attempt}.jsonl`),
    ...changes,
  }
}

async function listed(metadata: Record<string, string>): Promise<{ readonly sandboxId: string }[]> {
  return server.client.Sandbox.list({ query: { metadata } }).nextItems()
}

async function eventsOf({ events_file: file }: RelayConfigure): Promise<RelayEventLine[]> {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  return lines.map((line) => relayEventSchema.parse(JSON.parse(line)))
}

async function get(port: number, path: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`)
  return { status: response.status, text: await response.text() }
}

async function started(configure: RelayConfigure): Promise<{ relay: RelayProcess; ports: { server: number; cdp: number }; sandboxId: string }> {
  const relay = launch()
  const { ports } = await relay.configure(configure)
  const reply = await relay.request('start')
  if (!reply.ok) throw new Error(`${reply.error.code}: ${reply.error.message}`)
  return { relay, ports, sandboxId: reply.sandbox_id ?? '' }
}

test('the ports are told before any sandbox exists; the end of input ends the process', async () => {
  const configure = configureFor()
  const relay = launch()
  const { ports } = await relay.configure(configure)
  expect(await listed(configure.metadata)).toEqual([])
  expect((await get(ports.server, '/platform')).status).toBe(502)
  relay.endInput()
  expect(await relay.exitCode()).toBe(0)
  expect(relay.messages.at(-1)).toEqual({ type: 'stopped', cleanup: 'none' })
})

test('a start gives a sandbox whose guest is reached through the port; a stop ends it; nothing written holds a secret', async () => {
  const configure = configureFor()
  const { relay, ports, sandboxId } = await started(configure)
  expect((await listed(configure.metadata)).map((item) => item.sandboxId)).toEqual([sandboxId])
  const token = (await server.client.Sandbox.connect(sandboxId)).trafficAccessToken ?? ''
  expect(token).not.toBe('')
  const { text } = await get(ports.server, '/echo')
  expect(text).not.toContain(token)
  const echoed = JSON.parse(text) as { headers: Record<string, string> }
  expect(echoed.headers['Host']).toBe('localhost:5000')
  expect(await relay.request('stop')).toMatchObject({ ok: true, cleanup: 'success' })
  expect(await listed(configure.metadata)).toEqual([])
  relay.endInput()
  expect(await relay.exitCode()).toBe(0)
  expect(relay.messages.at(-1)).toEqual({ type: 'stopped', cleanup: 'success' })
  const events = await eventsOf(configure)
  expect(events.map(({ event }) => event)).toEqual(['RELAY_LISTENING', 'SANDBOX_CREATE_STARTED', 'SANDBOX_CREATED', 'SANDBOX_READY', 'SANDBOX_CLEANED'])
  expect(events.at(3)).toMatchObject({ generation: 1, sandbox_id: sandboxId, seconds: expect.any(Number) as number })
  const written = relay.output + (await readFile(configure.events_file, 'utf8'))
  expect(written).not.toContain(configure.connection.api_key)
  expect(written).not.toContain(token)
})

test('a second start gives the same sandbox; a reset gives a fresh one after the first is gone', async () => {
  const configure = configureFor()
  const { relay, ports, sandboxId } = await started(configure)
  expect(await relay.request('start')).toMatchObject({ ok: true, sandbox_id: sandboxId, generation: 1 })
  const reset = await relay.request('reset')
  expect(reset).toMatchObject({ ok: true, generation: 2 })
  const now = (await listed(configure.metadata)).map((item) => item.sandboxId)
  expect(now).toEqual([reset.ok ? reset.sandbox_id : undefined])
  expect(now).not.toContain(sandboxId)
  expect((await get(ports.server, '/echo')).status).toBe(200)
})

test.each(['end of input', 'SIGTERM', 'SIGINT'] as const)('%s ends a running sandbox before the process ends with 0', async (way) => {
  const configure = configureFor()
  const { relay } = await started(configure)
  if (way === 'end of input') relay.endInput()
  else relay.child.kill(way)
  expect(await relay.exitCode()).toBe(0)
  expect(relay.messages.at(-1)).toEqual({ type: 'stopped', cleanup: 'success' })
  expect(await listed(configure.metadata)).toEqual([])
})

test('a stop while the desktop is awaited calls the start off', async () => {
  const configure = configureFor({ template: server.emptyTemplate, ready_deadline_seconds: 600 })
  const relay = launch()
  await relay.configure(configure)
  const start = relay.request('start')
  await eventually(async () => (await listed(configure.metadata)).length === 1)
  expect(await relay.request('stop')).toMatchObject({ ok: true })
  expect(await start).toMatchObject({ ok: false, error: { code: 'interrupted' } })
  expect(await listed(configure.metadata)).toEqual([])
})

test('a desktop that does not come in time is not ready, and its sandbox is ended', async () => {
  const configure = configureFor({ template: server.emptyTemplate, ready_deadline_seconds: 1 })
  const relay = launch()
  await relay.configure(configure)
  expect(await relay.request('start')).toMatchObject({ ok: false, error: { code: 'guest_not_ready' } })
  expect(await listed(configure.metadata)).toEqual([])
  expect((await eventsOf(configure)).map(({ event }) => event).slice(-2)).toEqual(['SANDBOX_CLEANED', 'SANDBOX_START_FAILED'])
})

test('a sandbox that is gone is noticed at the next request, told once, and answered for by the relay from then on', async () => {
  const configure = configureFor()
  const { relay, ports, sandboxId } = await started(configure)
  await server.client.Sandbox.kill(sandboxId)
  await get(ports.server, '/screenshot')
  expect(await relay.waitFor('lost')).toMatchObject({ reason: 'guest_lost' })
  expect(JSON.parse((await get(ports.server, '/screenshot')).text)).toMatchObject({ author: 'osworld-e2b relay', reason: 'no_sandbox' })
  expect(await relay.request('start')).toMatchObject({ ok: false, error: { code: 'guest_lost' } })
  relay.endInput()
  expect(await relay.exitCode()).toBe(0)
  expect(relay.messages.filter(({ type }) => type === 'lost')).toHaveLength(1)
})

test('a template that does not exist fails the start with a sentence', async () => {
  const relay = launch()
  await relay.configure(configureFor({ template: 'nothing:00000000-0000-4000-8000-000000000000' }))
  expect(await relay.request('start')).toMatchObject({ ok: false, error: { code: 'sandbox_create_failed', message: expect.stringContaining('404') as string } })
  relay.endInput()
  expect(await relay.exitCode()).toBe(0)
  expect(relay.messages.at(-1)).toEqual({ type: 'stopped', cleanup: 'none' })
})

test('when input ends while the create call is under way, its sandbox is ended all the same', async () => {
  const slow = await startDetour(server.connection.api_url ?? '', 'POST /v2/sandboxes', 'delay')
  const configure = configureFor({ connection: { ...server.connection, api_url: slow.url } })
  const relay = launch()
  await relay.configure(configure)
  relay.write(JSON.stringify({ type: 'start', id: 7 }))
  await eventually(async () => (await listed(configure.metadata)).length === 1)
  relay.endInput()
  slow.release()
  expect(await relay.exitCode()).toBe(0)
  expect(relay.messages).toContainEqual(expect.objectContaining({ type: 'reply', id: 7, ok: false }))
  expect(await listed(configure.metadata)).toEqual([])
  await slow.close()
})

test.each([
  { title: 'no JSON', line: '{"api_key": "e2b_secret' },
  { title: 'another message', line: '{"type":"start","id":1}' },
  { title: 'a field too many', line: '{"type":"configure","extra":"e2b_secret"}' },
])('a first line that is $title is refused with 2, and is not repeated in the log', async ({ line }) => {
  const relay = launch()
  relay.write(line)
  expect(await relay.exitCode()).toBe(2)
  expect(relay.output).not.toContain('e2b_secret')
  expect(relay.messages).toEqual([])
})

test('a later line that breaks the protocol ends the sandbox, and the process with 1', async () => {
  const configure = configureFor()
  const { relay } = await started(configure)
  relay.write('{"type":"dance","id":3}')
  expect(await relay.exitCode()).toBe(1)
  expect(await listed(configure.metadata)).toEqual([])
})

describe('sandboxes on the local server', () => {
  const metadata = { run: 'sandboxes-test' }

  test('a sandbox outlives its time to live for as long as its lease beats', async () => {
    const lease = await connectSandboxes(server.connection).create({ template: server.emptyTemplate, metadata, timeoutSeconds: 2 })
    const bornAt = Date.now()
    await eventually(() => Promise.resolve(Date.now() - bornAt > 5_000))
    expect(await lease.verify()).toBe(true)
    expect(await lease.kill()).toBe('success')
    expect(await listed(metadata)).toEqual([])
  })

  test('orphans are found by metadata and killed, and others are left alone', async () => {
    const sandboxes = connectSandboxes(server.connection)
    const create = (run: string): Promise<SandboxLease> => sandboxes.create({ template: server.emptyTemplate, metadata: { run }, timeoutSeconds: 60 })
    const [first, second, other] = await Promise.all([create('orphans & co'), create('orphans & co'), create('others')])
    const report = await sandboxes.killMatching({ run: 'orphans & co' })
    expect([...report.killed].sort()).toEqual([first.id, second.id].sort())
    expect(report.remaining).toEqual([])
    expect((await sandboxes.list({ run: 'others' })).map(({ id }) => id)).toEqual([other.id])
    expect(await other.verify()).toBe(true)
    expect(await first.verify()).toBe(false)
    await Promise.all([first, second, other].map((lease) => lease.kill()))
  })
})

describe('when the local server ends too', () => {
  let own: LocalServer
  beforeAll(async () => {
    own = await startLocalServer()
  }, 300_000)
  afterAll(() => own.close())
  const startedThere = () => started(configureFor({ connection: own.connection, template: own.readyTemplate }))

  test('both clean up when both are told at the same moment, and a relay whose server is gone has nothing left to end', async () => {
    const [first, second, third] = [await startedThere(), await startedThere(), await startedThere()]
    const closed = own.close()
    first.relay.endInput()
    second.relay.endInput()
    expect([await first.relay.exitCode(), await second.relay.exitCode()]).toEqual([0, 0])
    await closed
    await get(third.ports.server, '/screenshot')
    expect(await third.relay.waitFor('lost')).toMatchObject({ reason: 'guest_lost', message: expect.stringContaining('local server') as string })
    third.relay.endInput()
    expect(await third.relay.exitCode()).toBe(0)
    for (const { relay } of [first, second, third]) expect(relay.messages.at(-1)).toEqual({ type: 'stopped', cleanup: 'success' })
  })
})

describe.concurrent('at the end of all patience', () => {
  test('a kill -9 of the process leaves the sandbox to its time to live', async () => {
    const configure = configureFor({ sandbox_timeout_seconds: 15 })
    const { relay } = await started(configure)
    relay.child.kill('SIGKILL')
    expect(await listed(configure.metadata)).toHaveLength(1)
    await eventually(async () => (await listed(configure.metadata)).length === 0, 30_000)
  })

  test('a sandbox that cannot be killed is told as failed, and the process ends with 1', async () => {
    const stubborn = await startDetour(server.connection.api_url ?? '', 'DELETE', 'fail')
    const configure = configureFor({ connection: { ...server.connection, api_url: stubborn.url } })
    const { relay } = await started(configure)
    relay.endInput()
    expect(await relay.exitCode()).toBe(1)
    expect(relay.messages.at(-1)).toEqual({ type: 'stopped', cleanup: 'failed' })
    expect((await eventsOf(configure)).at(-1)).toMatchObject({ event: 'SANDBOX_CLEANUP_FAILED' })
    await stubborn.close()
  })
})
