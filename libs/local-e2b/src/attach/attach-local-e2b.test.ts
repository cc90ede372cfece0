import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { localServerFileSchema } from '@osworld-e2b/contracts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { attachLocalE2b, type AttachedLocalE2b, type AttachLocalE2bOptions } from './attach-local-e2b.ts'

const fixture = fileURLToPath(new URL('server.fixture.mjs', import.meta.url))

let dataFolder: string
let attached: AttachedLocalE2b[]

beforeEach(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'attach-'))
  attached = []
})

afterEach(async () => {
  await Promise.all(attached.map((one) => one.close()))
  await rm(dataFolder, { recursive: true, force: true })
})

async function attach(behaviour: string, more: Partial<AttachLocalE2bOptions> = {}): Promise<AttachedLocalE2b> {
  const one = await attachLocalE2b({ dataFolder, serverCommand: [process.execPath, fixture, dataFolder, behaviour], environment: { ONLY_THIS: '1' }, ...more })
  attached.push(one)
  return one
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

  test('uses the server of a rival who won the race for the data folder', async () => {
    const loser = attach('fail')
    const winner = await attach('serve')
    const one = await loser
    expect(one.started).toBe(false)
    expect(one.connection).toEqual(winner.connection)
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
