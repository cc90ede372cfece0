import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandExitError, FileNotFoundError, FilesystemEventType, TimeoutError, type Sandbox } from 'e2b'
import { removeTestFolders, startTestServer, type TestServer } from './fixtures/test-server.ts'
import { until } from './fixtures/until.ts'

let test: TestServer
let sandbox: Sandbox

beforeAll(async () => {
  test = await startTestServer()
  await test.call('POST', '/v2/sandboxes', { templateID: 'base', timeout: 1 })
  sandbox = await test.e2b.Sandbox.create('base', { timeoutMs: 300_000 })
}, 300_000)

afterAll(async () => {
  await test.close()
  await removeTestFolders()
})

describe('commands through the server', () => {
  it('give output, errors and exit code', async () => {
    const failing = sandbox.commands.run('echo out; echo err >&2; exit 3')
    await expect(failing).rejects.toMatchObject({ exitCode: 3, stdout: 'out\n', stderr: 'err\n' })
    await expect(failing).rejects.toBeInstanceOf(CommandExitError)
  })

  it('run as another user, in another folder, with an environment', async () => {
    const result = await sandbox.commands.run('id -un; pwd; echo "$ONE"', { user: 'root', cwd: '/etc', envs: { ONE: '1 $HOME' } })
    expect(result.stdout).toBe('root\n/etc\n1 $HOME\n')
    expect((await sandbox.commands.run('sudo -n id -un')).stdout).toBe('root\n')
  })

  it('take input while they run, and end with it', async () => {
    const command = await sandbox.commands.run('cat; echo done', { background: true, stdin: true })
    await command.sendStdin('first\n')
    await command.sendStdin('second\n')
    await command.closeStdin()
    expect((await command.wait()).stdout).toBe('first\nsecond\ndone\n')
  })

  it('stream their output in the background and can be joined by another client', async () => {
    let seen = ''
    const command = await sandbox.commands.run('for i in 1 2 3; do echo $i; done; read line; echo "got $line"', { background: true, stdin: true, onStdout: (text) => void (seen += text) })
    await until('output arrived', () => seen.includes('3\n'))
    const joined = await sandbox.commands.connect(command.pid)
    await sandbox.commands.sendStdin(command.pid, 'x\n')
    expect((await joined.wait()).stdout).toContain('got x')
    await command.wait()
  })

  it('are listed while they run and killed on demand', async () => {
    const command = await sandbox.commands.run('sleep 60', { background: true })
    expect((await sandbox.commands.list()).map(({ pid }) => pid)).toContain(command.pid)
    expect(await sandbox.commands.kill(command.pid)).toBe(true)
    await expect(command.wait()).rejects.toMatchObject({ exitCode: -1 })
    expect(await sandbox.commands.kill(999_999)).toBe(false)
  })

  it('end with their own time limit', async () => {
    await expect(sandbox.commands.run('sleep 60', { timeoutMs: 300 })).rejects.toBeInstanceOf(TimeoutError)
  })

  it('do not reach beyond the sandbox: another process of the host stays unseen', async () => {
    const { stdout } = await sandbox.commands.run('ls /proc | grep -c "^[0-9]"; curl -s -m 3 -o /dev/null http://1.1.1.1 || echo offline', { user: 'root' })
    expect(stdout).toMatch(/^\d{1,2}\noffline\n$/)
  })
})

describe('files through the server', () => {
  it('are written, read, listed, and removed', async () => {
    await sandbox.files.write('notes/a.txt', 'text ü')
    await sandbox.files.write([
      { path: 'notes/b.txt', data: 'b' },
      { path: 'notes/c.txt', data: 'c' },
    ])
    expect(await sandbox.files.read('/home/user/notes/a.txt')).toBe('text ü')
    expect((await sandbox.files.list('notes')).map(({ name }) => name)).toEqual(['a.txt', 'b.txt', 'c.txt'])
    expect(await sandbox.files.exists('notes/b.txt')).toBe(true)
    await sandbox.files.remove('notes/b.txt')
    expect(await sandbox.files.exists('notes/b.txt')).toBe(false)
    await expect(sandbox.files.read('notes/b.txt')).rejects.toBeInstanceOf(FileNotFoundError)
    expect((await sandbox.commands.run('stat -c %U notes notes/a.txt')).stdout).toBe('user\nuser\n')
  })

  it('pass large bodies both ways unchanged', async () => {
    const bytes = new Uint8Array(8 * 1024 * 1024).map((_, index) => (index * 31) % 251)
    await sandbox.files.write('large.bin', bytes.buffer)
    expect(Buffer.compare(await sandbox.files.read('large.bin', { format: 'bytes' }), bytes)).toBe(0)
  })

  it('are watched', async () => {
    await sandbox.files.makeDir('watched')
    const names: string[] = []
    const handle = await sandbox.files.watchDir('watched', (event) => {
      if (event.type === FilesystemEventType.CREATE) names.push(event.name)
    })
    await sandbox.files.write('watched/new.txt', 'x')
    await until('the event came', () => names.includes('new.txt'))
    await handle.stop()
  })

  it('are reached by signed addresses without any header, each in its own sandbox', async () => {
    const other = await test.e2b.Sandbox.create('base', { timeoutMs: 60_000 })
    await sandbox.files.write('/tmp/which', 'first')
    await other.files.write('/tmp/which', 'second')
    expect(await (await fetch(await other.downloadUrl('/tmp/which'))).text()).toBe('second')
    expect(await (await fetch(await sandbox.downloadUrl('/tmp/which', { useSignatureExpiration: 60 }))).text()).toBe('first')
    const written = await fetch(await other.uploadUrl('/tmp/put'), { method: 'POST', body: formWith('put') })
    expect([written.status, await other.files.read('/tmp/put')]).toEqual([200, 'put'])
    const expired = await fetch(await sandbox.downloadUrl('/tmp/which', { useSignatureExpiration: -10 }))
    expect([expired.status, await expired.json()]).toEqual([401, { code: 401, message: 'signature is already expired' }])
    const forged = (await sandbox.downloadUrl('/tmp/which')).replace('which', 'other')
    expect((await fetch(forged)).status).toBe(401)
    await other.kill()
  })

  it('and commands need the token of this very sandbox', async () => {
    const routing = { 'E2b-Sandbox-Id': sandbox.sandboxId, 'E2b-Sandbox-Port': '49983' }
    for (const headers of [routing, { ...routing, 'X-Access-Token': 'wrong' }]) {
      const response = await fetch(`${test.server.url}/files?path=/etc/hostname`, { headers })
      expect([response.status, await response.json()]).toMatchObject([401, { code: 401 }])
    }
    expect((await fetch(`${test.server.url}/health`, { headers: routing })).status).toBe(204)
  })
})

function formWith(text: string): FormData {
  const form = new FormData()
  form.append('file', new Blob([text]), 'put')
  return form
}
