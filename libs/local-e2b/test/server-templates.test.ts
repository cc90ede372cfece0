import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BuildError, Template, waitForFile, waitForPort, type LogEntry, type TemplateClass } from 'e2b'
import { makeDataFolder, removeTestFolders, startTestServer, type TestServer } from './fixtures/test-server.ts'

let test: TestServer
let dataFolder: string
let context: string

interface Built {
  readonly templateId: string
  readonly buildId: string
  readonly lines: readonly string[]
}

async function build(template: TemplateClass, name: string, options: { skipCache?: boolean; tags?: string[] } = {}): Promise<Built> {
  const entries: LogEntry[] = []
  const { templateId, buildId } = await test.e2b.Template.build(template, name, { onBuildLogs: (entry) => void entries.push(entry), ...options })
  return { templateId, buildId, lines: entries.map(({ message }) => message) }
}

async function outputIn(reference: string, command: string): Promise<string> {
  const sandbox = await test.e2b.Sandbox.create(reference, { timeoutMs: 60_000 })
  try {
    return (await sandbox.commands.run(command)).stdout
  } finally {
    await sandbox.kill()
  }
}

async function failure(template: TemplateClass): Promise<{ message: string; step: string }> {
  const { templateId, buildId } = await test.e2b.Template.buildInBackground(template, 'failing')
  for (;;) {
    const { status, reason } = await test.e2b.Template.getBuildStatus({ templateId, buildId })
    if (status === 'error') return { message: reason?.message ?? '', step: reason?.step ?? '' }
    if (status === 'ready') throw new Error('the build was meant to fail')
  }
}

const from = (): ReturnType<ReturnType<typeof Template>['fromImage']> => Template({ fileContextPath: context }).fromImage('debian:12')

const everyStep = (): TemplateClass =>
  from()
    .setEnvs({ PREFIX: '/opt/tool', TOOL_PATH: '$PREFIX/bin:$HOME' })
    .runCmd('id -un > who; echo "$TOOL_PATH" >> who; echo kept > /tmp/gone')
    .runCmd('mkdir -p "$PREFIX"; id -un > "$PREFIX/owner"', { user: 'root' })
    .setWorkdir('/srv/app')
    .copy('assets', 'assets', { user: 'root', mode: 0o700 })
    .copy('*.txt', './')
    .makeSymlink('/srv/app/a.txt', 'link')
    .setUser('root')
    .setWorkdir('deeper')
    .setStartCmd('echo "started in $PWD as $(id -un)"; touch /run/started; exec python3 -m http.server 8123', waitForPort(8123))

beforeAll(async () => {
  context = await mkdtemp(path.join(tmpdir(), 'e2b-context-'))
  await mkdir(path.join(context, 'assets/inner'), { recursive: true })
  await writeFile(path.join(context, 'assets/inner/deep'), 'deep')
  await writeFile(path.join(context, 'a.txt'), 'a')
  await writeFile(path.join(context, 'b.txt'), 'b')
  dataFolder = await makeDataFolder()
  test = await startTestServer({ dataFolder, imageAliases: { 'ubuntu:22.04': 'debian:12' } })
  await test.call('POST', '/v2/sandboxes', { templateID: 'base', timeout: 1 })
}, 300_000)

afterAll(async () => {
  await test.close()
  await removeTestFolders()
  await rm(context, { recursive: true, force: true })
})

describe('a template build', () => {
  it('does every kind of step and tries start and ready command', async () => {
    const { lines } = await build(everyStep(), 'every')
    expect(lines).toEqual(expect.arrayContaining([expect.stringContaining('started in /srv/app/deeper as root')]))
    const facts = [
      'cat /home/user/who',
      'cat /opt/tool/owner',
      'pwd; id -un',
      'stat -c "%U %a" /srv/app/assets/inner/deep; stat -c %U /srv/app /srv/app/a.txt /srv/app/deeper',
      'cat /srv/app/link /srv/app/b.txt; echo',
      'ls /tmp | wc -l; echo "$TOOL_PATH"',
      'until [ -f /run/started ]; do :; done; echo up',
    ]
    expect((await outputIn('every', facts.join('; '))).split('\n')).toEqual(
      ['user', '/opt/tool/bin:/home/user', 'root', '/srv/app/deeper', 'root', 'root 700', 'user', 'user', 'root', 'ab', '0', '/opt/tool/bin:/home/user', 'up', ''],
    )
  })

  it('runs its start command in every sandbox, with the output on the host', async () => {
    const sandbox = await test.e2b.Sandbox.create('every', { timeoutMs: 60_000 })
    await sandbox.commands.run('until ss -Htln sport = :8123 | grep -q .; do :; done')
    expect(await readFile(path.join(dataFolder, 'sandboxes', sandbox.sandboxId, 'start.log'), 'utf8')).toContain('started in /srv/app/deeper as root')
    await sandbox.kill()
  })

  it('takes every step from the cache the second time, and none with skipCache', async () => {
    const before = await layers()
    const { lines } = await build(everyStep(), 'every-again')
    expect(lines.filter((line) => line.startsWith('CACHED'))).toHaveLength(9)
    expect(await layers()).toEqual(before)
    const forced = await build(everyStep(), 'every-forced', { skipCache: true })
    expect(forced.lines.filter((line) => line.startsWith('CACHED'))).toEqual([])
    expect((await layers()).length).toBeGreaterThan(before.length)
  })

  it('continues from another template with its user, folder and environment', async () => {
    await build(Template().fromTemplate('every').runCmd('pwd > /child; echo "$PREFIX" >> /child'), 'child')
    expect(await outputIn('child', 'cat /child /opt/tool/owner')).toBe('/srv/app/deeper\n/opt/tool\nroot\n')
  })

  it('is told apart by tags and build ids', async () => {
    const first = await build(from().runCmd('echo one > ~/version'), 'tagged', { tags: ['v1', 'stable'] })
    await build(from().runCmd('echo two > ~/version'), 'tagged', { tags: ['v2'] })
    expect(await outputIn('tagged:v1', 'cat version')).toBe('one\n')
    expect(await outputIn('tagged:v2', 'cat version')).toBe('two\n')
    expect(await outputIn(`tagged:${first.buildId}`, 'cat version')).toBe('one\n')
    await test.e2b.Template.assignTags('tagged:v2', ['stable', 'newest'])
    expect(await outputIn('tagged:stable', 'cat version')).toBe('two\n')
    await test.e2b.Template.removeTags('tagged', ['newest'])
    expect((await test.e2b.Template.getTags(first.templateId)).map(({ tag }) => tag).sort()).toEqual(['stable', 'v1', 'v2'])
    await expect(test.e2b.Sandbox.create('tagged')).rejects.toThrow(/tags: stable, v1, v2/)
  })

  it('exists once it was built, and is deleted', async () => {
    expect(await test.e2b.Template.exists('nobody')).toBe(false)
    expect(await test.e2b.Template.exists('base')).toBe(true)
    const { templateId } = await build(from(), 'short-lived')
    expect(await test.e2b.Template.exists('short-lived')).toBe(true)
    expect((await test.call('DELETE', `/templates/${templateId}`)).status).toBe(204)
    expect((await test.call('DELETE', `/templates/${templateId}`)).status).toBe(404)
    expect(await test.e2b.Template.exists('short-lived')).toBe(false)
  })

  it('accepts an aliased image name and says so in its log', async () => {
    const { lines } = await build(Template().fromImage('ubuntu:22.04').runCmd('true'), 'aliased')
    expect(lines.join('\n')).toContain('alias: the image is debian:12')
  })
})

describe('a template build that fails', () => {
  it('names the step, its command and the end of its output', async () => {
    const { message, step } = await failure(from().runCmd('true').runCmd('echo the reason >&2; exit 7'))
    expect(step).toBe('2')
    expect(message).toMatch(/^failed to run command 'echo the reason >&2; exit 7': exit status 7: the reason$/)
  })

  it.each([
    ['an unknown user of a command', () => from().runCmd('whoami', { user: 'nobody-here' }), '1', "failed to run command 'whoami': command failed: unauthenticated: invalid username: 'nobody-here'"],
    ['an unknown user', () => from().setUser('nobody-here'), '1', "invalid username: 'nobody-here'"],
    ['an unknown template', () => Template().fromTemplate('nobody'), 'base', "'nobody'"],
    ['a start command that fails', () => from().setStartCmd('echo broken; exit 4', waitForFile('/never')), 'finalize', 'start command failed: exit status 4: broken'],
  ])('says so of %s', async (_, template, step, sentence) => {
    const reason = await failure(template())
    expect(reason.step).toBe(step)
    expect(reason.message).toContain(sentence)
  })

  it('is refused at once for an image that is not offered', async () => {
    const refused = build(Template().fromImage('alpine:3'), 'failing')
    await expect(refused).rejects.toBeInstanceOf(BuildError)
    await expect(refused).rejects.toThrow(/'alpine:3' is not offered.*debian:12/)
  })

  it('leaves no layer to be reused, and no sandbox', async () => {
    const template = (): TemplateClass => from().runCmd('echo x > ~/half; [ -f /etc/allowed ]')
    const before = await layers()
    await failure(template())
    expect(await layers()).toEqual(before)
    expect(await readdir(path.join(dataFolder, 'sandboxes'))).toEqual([])
  })
})

describe('the template routes', () => {
  it('give at most a hundred log lines at a time, and none past the end', async () => {
    const { templateId, buildId } = await build(from().runCmd('seq 1 250'), 'chatty')
    const page = async (offset: number): Promise<string[]> => {
      const response = await test.call('GET', `/templates/${templateId}/builds/${buildId}/status?logsOffset=${offset}`)
      return ((await response.json()) as { logEntries: { message: string }[] }).logEntries.map(({ message }) => message)
    }
    expect(await page(0)).toHaveLength(100)
    expect((await page(100))[0]).not.toBe((await page(0))[0])
    expect(await page(100_000)).toEqual([])
  })

  it('answer a trigger with an empty 202, once', async () => {
    const { templateID, buildID } = (await (await test.call('POST', '/v3/templates', { name: 'once:v1' })).json()) as { templateID: string; buildID: string }
    const path = `/v2/templates/${templateID}/builds/${buildID}`
    const first = await test.call('POST', path, { fromTemplate: 'base', steps: [] })
    expect([first.status, first.headers.get('content-length')]).toEqual([202, '0'])
    expect((await test.call('POST', path, { fromTemplate: 'base' })).status).toBe(409)
    expect((await test.call('POST', '/v3/templates', { name: 'x:' })).status).toBe(400)
    expect((await test.call('POST', '/v3/templates', { name: ':x' })).status).toBe(400)
    expect((await test.call('POST', '/templates/tags', { target: 'base', tags: ['BAD'] })).status).toBe(400)
  })

  it('take an upload only at the address they gave', async () => {
    const { templateID } = (await (await test.call('POST', '/v3/templates', { name: 'uploads' })).json()) as { templateID: string }
    const hash = 'ab'.repeat(32)
    const link = (await (await test.call('GET', `/templates/${templateID}/files/${hash}`)).json()) as { present: boolean; url: string }
    expect(link.present).toBe(false)
    expect((await fetch(link.url.replace(/token=.*/, 'token=0'), { method: 'PUT', body: 'x' })).status).toBe(403)
    expect((await fetch(link.url, { method: 'PUT', body: 'x' })).ok).toBe(true)
    expect(await (await test.call('GET', `/templates/${templateID}/files/${hash}`)).json()).toMatchObject({ present: true })
  })
})

async function layers(): Promise<string[]> {
  return (await readdir(path.join(dataFolder, 'layers'))).sort()
}
