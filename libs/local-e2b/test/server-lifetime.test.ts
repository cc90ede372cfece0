import { mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { localServerFileSchema, parseJsonDocument } from '@osworld-e2b/contracts'
import { secret } from '@osworld-e2b/redaction'
import { afterAll, describe, expect, it } from 'vitest'
import { Template } from 'e2b'
import { makeDataFolder, removeTestFolders, startTestServer, testDriver, testKey } from './fixtures/test-server.ts'
import { startLocalE2b } from '../src/index.ts'

afterAll(removeTestFolders)

async function processesOf(dataFolder: string): Promise<string[]> {
  const found: string[] = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const mounts = await readFile(`/proc/${pid}/mountinfo`, 'utf8').catch(() => '')
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    if (pid !== String(process.pid) && (mounts.includes(dataFolder) || command.includes(dataFolder))) found.push(`${pid} ${command}`)
  }
  return found
}

describe('a server', () => {
  it('writes its address and key for its own user only, and no secret into its log', async () => {
    const dataFolder = await makeDataFolder()
    const test = await startTestServer({ dataFolder })
    const file = path.join(dataFolder, 'server.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const document = parseJsonDocument(localServerFileSchema, file, await readFile(file, 'utf8'))
    expect(document).toMatchObject({ url: test.server.url, api_key: testKey, pid: process.pid })
    const sandbox = await test.e2b.Sandbox.create('base', { network: { allowPublicTraffic: false } })
    const secrets = [testKey, sandbox.trafficAccessToken ?? 'none']
    await test.close()
    for (const secret of secrets) expect(test.logLines.join('\n')).not.toContain(secret)
  })

  it('refuses a data folder that another one holds, naming it, and takes over the lock of a dead one', async () => {
    const dataFolder = await makeDataFolder()
    const test = await startTestServer({ dataFolder })
    await expect(startTestServer({ dataFolder })).rejects.toMatchObject({
      code: 'data_folder_locked',
      message: expect.stringMatching(new RegExp(`pid ${process.pid}.*${test.server.url}`)) as string,
    })
    expect((await test.call('GET', '/sandboxes')).status).toBe(200)
    await test.close()
    await writeFile(path.join(dataFolder, 'server.lock'), `${JSON.stringify({ pid: process.pid, pid_start: '1' })}\n`)
    const next = await startTestServer({ dataFolder })
    await next.close()
    expect((await readdir(dataFolder)).filter((name) => name.startsWith('server.lock'))).toEqual([])
  })

  it('keeps its templates over a restart, and ends builds that a dead server left', async () => {
    const dataFolder = await makeDataFolder()
    const first = await startTestServer({ dataFolder })
    const { buildId } = await first.e2b.Template.build(Template().fromTemplate('base').runCmd('echo kept > ~/note'), 'kept', { tags: ['v1'] })
    const half = (await (await first.call('POST', '/v3/templates', { name: 'half' })).json()) as { templateID: string; buildID: string }
    await first.close()
    const second = await startTestServer({ dataFolder })
    const sandbox = await second.e2b.Sandbox.create(`kept:${buildId}`)
    expect(await sandbox.files.read('note')).toBe('kept\n')
    const status = await second.call('GET', `/templates/${half.templateID}/builds/${half.buildID}/status`)
    expect(await status.json()).toMatchObject({ status: 'error', reason: { message: expect.stringContaining('server ended') as string } })
    await second.close()
  })

  it('leaves no process, mount, network namespace or folder when it closes in the middle of things', async () => {
    const dataFolder = await makeDataFolder()
    const test = await startTestServer({ dataFolder })
    const sandboxes = await Promise.all([1, 2, 3].map(() => test.e2b.Sandbox.create('base', { timeoutMs: 60_000 })))
    const running = await Promise.all(sandboxes.map((sandbox) => sandbox.commands.run('sleep 600', { background: true, timeoutMs: 0 })))
    const waiting = running.map((command) => command.wait().catch((error: unknown) => String(error)))
    const { templateId } = await test.e2b.Template.buildInBackground(Template().fromTemplate('base').runCmd('sleep 600'), 'sleeping')
    expect((await processesOf(dataFolder)).length).toBeGreaterThan(3)
    await Promise.all([test.close(), test.close()])
    expect(await processesOf(dataFolder)).toEqual([])
    expect(await readFile('/proc/self/mounts', 'utf8')).not.toContain(dataFolder)
    expect(await readdir(path.join(dataFolder, 'sandboxes'))).toEqual([])
    expect(await readdir(dataFolder)).not.toContain('server.lock')
    expect((await Promise.all(waiting)).every((outcome) => typeof outcome === 'string')).toBe(true)
    await expect(fetch(`${test.server.url}/health`)).rejects.toThrow()
    const templates = await readFile(path.join(dataFolder, 'templates.json'), 'utf8')
    expect(templates).toContain(templateId)
    expect(templates).toContain('the server closed during the build')
  })

  it('serves a data folder whose path is longer than the address of a socket may be', async () => {
    const dataFolder = await makeDataFolder(path.join('long'.repeat(20), 'longer'.repeat(20)))
    const test = await startTestServer({ dataFolder })
    const sandbox = await test.e2b.Sandbox.create('base', { timeoutMs: 60_000 })
    expect((await sandbox.commands.run('echo here')).stdout).toBe('here\n')
    const folders = async (): Promise<number> => {
      const links = await Promise.all((await readdir('/proc/self/fd')).map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')))
      return links.filter((link) => path.dirname(link) === path.join(dataFolder, 'sandboxes')).length
    }
    expect(await folders()).toBe(1)
    expect(await sandbox.kill()).toBe(true)
    expect(await folders()).toBe(0)
    await test.close()
  })

  it('gives the folder back when it cannot start', async () => {
    const dataFolder = await mkdtemp(path.join(tmpdir(), 'e2b-'))
    await writeFile(path.join(dataFolder, 'templates.json'), '{"schema_version": 9}')
    const driver = await testDriver(dataFolder)
    const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }
    await expect(startLocalE2b({ dataFolder, driver, apiKey: secret(testKey, 'API key'), pid: process.pid, log })).rejects.toThrow('templates.json is not valid')
    expect(await readdir(dataFolder)).not.toContain('server.lock')
    expect(await processesOf(dataFolder)).toEqual([])
    await rm(dataFolder, { recursive: true, force: true })
  })
})
