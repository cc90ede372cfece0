import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { localServerFileSchema } from '@osworld-e2b/contracts'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { attachLocalE2b, type AttachedLocalE2b, type AttachLocalE2bOptions } from './attach-local-e2b.ts'

const fixture = fileURLToPath(new URL('server.fixture.mjs', import.meta.url))

let dataFolder: string
let attached: AttachedLocalE2b[]
let others: ChildProcess[]

beforeEach(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'attach-'))
  attached = []
  others = []
})

afterEach(async () => {
  await Promise.all(attached.map((one) => one.close()))
  for (const other of others) {
    other.kill('SIGKILL')
    if (other.exitCode === null && other.signalCode === null) await once(other, 'close')
  }
  await rm(dataFolder, { recursive: true, force: true })
})

async function attach(behaviour: string, more: Partial<AttachLocalE2bOptions> = {}): Promise<AttachedLocalE2b> {
  const one = await attachLocalE2b({ dataFolder, serverCommand: [process.execPath, fixture, dataFolder, behaviour], environment: { ONLY_THIS: '1' }, ...more })
  attached.push(one)
  return one
}

interface Rival {
  readonly pid: number
  order(line: 'serve' | 'closing' | 'end'): void
  /** Resolves when it has written this line so often. */
  wrote(start: string, times?: number): Promise<void>
}

/** A server of somebody else that has the data folder's lock. */
async function startRival(): Promise<Rival> {
  const child = spawn(process.execPath, [fixture, dataFolder, 'rival'], { stdio: ['pipe', 'pipe', 'ignore'] })
  others.push(child)
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    child.emit('written')
  })
  const wrote = async (start: string, times = 1): Promise<void> => {
    while (lines.filter((line) => line.startsWith(start)).length < times) await once(child, 'written')
  }
  await wrote('locked')
  return { pid: child.pid ?? 0, order: (line) => void child.stdin.write(`${line}\n`), wrote }
}

async function serverFile() {
  return localServerFileSchema.parse(JSON.parse(await readFile(join(dataFolder, 'server.json'), 'utf8')))
}

describe('attaching to a local server', () => {
  test('starts a server when none runs, and ends it at close', async () => {
    const one = await attach('serve')
    const { pid, url, api_key } = await serverFile()
    expect(one.started).toBe(true)
    expect(one.connection).toEqual({ route: 'local', api_key, api_url: url, sandbox_url: url })
    await one.close()
    await one.exited
    expect(existsSync(`/proc/${pid}`)).toBe(false)
  })

  test('gives a started server only the environment it was told to', async () => {
    const lines: string[] = []
    const one = await attach('serve', { onLine: (line) => lines.push(line) })
    await one.close()
    expect(lines).toContain('environment: ONLY_THIS')
  })

  test('uses a server that runs already and leaves it alone at close', async () => {
    const owner = await attach('serve')
    const guest = await attach('fail')
    expect(guest.started).toBe(false)
    expect(guest.connection).toEqual(owner.connection)
    await guest.close()
    expect((await fetch(new URL('/health', (await serverFile()).url))).ok).toBe(true)
  })

  test.each([
    ['process is gone', { pid: 2 ** 22 + 1, pid_start: '1' }],
    ['pid belongs to another process by now', { pid: process.pid, pid_start: '1' }],
  ])('does not believe a server file whose %s', async (_what, stale) => {
    const file = { schema_version: 1, url: 'http://127.0.0.1:9', api_key: `e2b_${'1'.repeat(40)}`, ...stale }
    await writeFile(join(dataFolder, 'server.json'), JSON.stringify(file))
    expect((await attach('serve')).started).toBe(true)
  })

  test('does not believe a server file whose process is a zombie, even where somebody answers at its address', async () => {
    const parent = spawn('sh', ['-c', 'sleep 0 & echo $!; exec sleep 1000'], { stdio: ['ignore', 'pipe', 'ignore'] })
    others.push(parent)
    const [pid] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string]
    let fields: string[] = []
    while (fields[0] !== 'Z') fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ')
    const answering = createServer((_request, response) => response.end()).listen(0, '127.0.0.1')
    await once(answering, 'listening')
    onTestFinished(() => void answering.close())
    const { port } = answering.address() as AddressInfo
    const file = { schema_version: 1, url: `http://127.0.0.1:${port}`, api_key: `e2b_${'1'.repeat(40)}`, pid: Number(pid), pid_start: fields[19] }
    await writeFile(join(dataFolder, 'server.json'), JSON.stringify(file))
    expect((await attach('serve')).started).toBe(true)
  })

  test('waits for a rival who holds the data folder and does not answer yet', async () => {
    const rival = await startRival()
    const waiting = attach('serve')
    rival.order('serve')
    expect((await waiting).started).toBe(false)
    expect((await waiting).connection.api_url).toBe((await serverFile()).url)
    expect((await serverFile()).pid).toBe(rival.pid)
  })

  test('uses the server of a rival who won the race for the data folder', async () => {
    const rival = await startRival()
    await rm(join(dataFolder, 'server.lock'))
    const one = await attach(`lose to ${rival.pid}`, { onLine: () => rival.order('serve') })
    expect(one.started).toBe(false)
    expect((await serverFile()).pid).toBe(rival.pid)
  })

  test('neither uses a server that is closing nor gives up before it has ended', async () => {
    const rival = await startRival()
    rival.order('serve')
    await rival.wrote('{')
    rival.order('closing')
    const waiting = attach('serve')
    await rival.wrote('asked', 30)
    rival.order('end')
    expect((await waiting).started).toBe(true)
    expect((await serverFile()).pid).not.toBe(rival.pid)
  })

  test('says who holds the data folder when that process neither serves nor ends', async () => {
    const rival = await startRival()
    const refused = attach('serve', { holderDeadlineMs: 300 })
    await expect(refused).rejects.toMatchObject({ code: 'data_folder_locked', message: expect.stringContaining(`pid ${rival.pid}`) as string })
  })

  test('stops waiting with the reason of the signal', async () => {
    await startRival()
    const stop = new AbortController()
    const reason = new Error('not wanted any more')
    const waiting = attach('serve', { signal: stop.signal })
    stop.abort(reason)
    await expect(waiting).rejects.toBe(reason)
  })

  test('says what a server that cannot start wrote last', async () => {
    await expect(attach('fail')).rejects.toMatchObject({ code: 'start_failed', message: expect.stringContaining('the data folder is locked') as string })
  })

  test('refuses a program that does not exist', async () => {
    const missing = attachLocalE2b({ dataFolder, serverCommand: ['/nonexistent/program'], environment: {} })
    await expect(missing).rejects.toMatchObject({ code: 'start_failed' })
  })

  test('gives up on a server that never says it is ready, and leaves no process', async () => {
    const silent = attach('silent', { startDeadlineMs: 1_500 })
    await expect(silent).rejects.toMatchObject({ code: 'start_failed' })
    expect(existsSync(join(dataFolder, 'server.json'))).toBe(false)
  })

  test('ends a server by force when it does not stop with its standard input or at SIGTERM', async () => {
    const one = await attach('stubborn', { stopDeadlineMs: 300 })
    const { pid } = await serverFile()
    await one.close()
    expect(existsSync(`/proc/${pid}`)).toBe(false)
  })
})
