import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uploadFile } from '../src/agent-client/index.ts'
import { bash, call, open, send, type Reply } from './support/agent-calls.ts'
import { openTestSandbox, whyNoSandbox, type TestSandbox } from './support/test-sandbox.ts'

const files = 'filesystem.Filesystem'

describe.skipIf(whyNoSandbox !== undefined)(`the agent's file service${whyNoSandbox === undefined ? '' : ` (skipped: ${whyNoSandbox})`}`, () => {
  let sandbox: TestSandbox
  let socket: string
  const post = (query: string, body: string | Buffer, headers: Record<string, string> = { 'content-type': 'application/octet-stream' }): Promise<Reply> =>
    send(socket, { method: 'POST', path: `/files${query}`, headers, body })
  const get = (path: string, headers: Record<string, string> = {}): Promise<Reply> =>
    send(socket, { method: 'GET', path: `/files?path=${encodeURIComponent(path)}`, headers })

  beforeAll(async () => {
    sandbox = await openTestSandbox({ user: 'alice', workdir: '/home/alice', environment: {} })
    socket = sandbox.agentSocket
    await bash(socket, 'useradd --create-home --shell /bin/bash alice', { user: 'root', cwd: '/' })
  }, 300_000)
  afterAll(async () => { await sandbox.close() })

  it('writes a file below the home folder with its parents, owned by the account', async () => {
    const { status, bytes } = await post('?path=new/deep/file.txt', 'content')
    expect({ status, reply: JSON.parse(bytes.toString()) as unknown }).toEqual({ status: 200, reply: [{ path: '/home/alice/new/deep/file.txt', name: 'file.txt', type: 'file' }] })
    expect((await bash(socket, 'cd ~; stat -c "%U %G %a %s" new new/deep new/deep/file.txt')).stdout).toMatch(/^alice alice 755 \d+\nalice alice 755 \d+\nalice alice 644 7\n$/)
  })

  it('writes for the account that the query names, anywhere', async () => {
    await post('?path=/made-below-root/file&username=alice', 'x')
    await post('?path=of-root&username=root', 'x')
    expect((await bash(socket, 'stat -c %U /made-below-root/file; ls ~root/of-root', { user: 'root' })).stdout).toBe('alice\n/root/of-root\n')
    expect(JSON.parse((await post('?path=x&username=ghost', 'x')).bytes.toString())).toEqual({ code: 401, message: "invalid username: 'ghost'" })
  })

  it('takes many files in one form, each at the path its part names', async () => {
    const content = Buffer.concat([Buffer.from('\r\n--bound\r\n-'), Buffer.alloc(300_000, 7)])
    const part = (path: string, bytes: Buffer) => Buffer.concat([Buffer.from(`--boundary\r\nContent-Disposition: form-data; name="file"; filename="${path}"\r\nContent-Type: application/octet-stream\r\n\r\n`), bytes, Buffer.from('\r\n')])
    const body = Buffer.concat([part('/home/alice/one %22q%22', content), part('two', Buffer.alloc(0)), Buffer.from('--boundary--\r\n')])
    const { status, bytes } = await post('', body, { 'content-type': 'multipart/form-data; boundary=boundary' })
    expect({ status, paths: (JSON.parse(bytes.toString()) as { path: string }[]).map(({ path }) => path) }).toEqual({ status: 200, paths: ['/home/alice/one "q"', '/home/alice/two'] })
    expect((await get('/home/alice/one "q"')).bytes.equals(content)).toBe(true)
    expect(await get('two')).toMatchObject({ status: 200, bytes: Buffer.alloc(0), headers: { 'content-length': '0' } })
  })

  it('refuses a damaged form and damaged gzip', async () => {
    expect((await post('?path=bad', '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nunfinished', { 'content-type': 'multipart/form-data; boundary=b' })).status).toBe(400)
    expect((await post('?path=bad', 'no gzip', { 'content-type': 'application/octet-stream', 'content-encoding': 'gzip' })).status).toBe(400)
    expect((await post('', 'x')).status).toBe(400)
  })

  it('takes and gives gzip', async () => {
    await post('?path=packed', gzipSync('unpacked text'), { 'content-type': 'application/octet-stream', 'content-encoding': 'gzip' })
    const packed = await get('packed', { 'accept-encoding': 'br, gzip;q=0.5' })
    expect({ encoding: packed.headers['content-encoding'], text: gunzipSync(packed.bytes).toString() }).toEqual({ encoding: 'gzip', text: 'unpacked text' })
    expect((await get('packed', { 'accept-encoding': 'gzip;q=0' })).bytes.toString()).toBe('unpacked text')
  })

  it('gives parts of a file', async () => {
    await post('?path=digits', '0123456789')
    for (const [range, status, text] of [['bytes=2-4', 206, '234'], ['bytes=7-', 206, '789'], ['bytes=-2', 206, '89'], ['bytes=8-99', 206, '89'], ['bytes=10-', 416, ''], ['bytes=1-2,4-5', 200, '0123456789']] as const) {
      const reply = await get('digits', { range, 'accept-encoding': 'gzip;q=0' })
      expect({ range, status: reply.status, text: reply.bytes.toString() }).toEqual({ range, status, text })
    }
    expect((await get('digits', { range: 'bytes=2-4' })).headers['content-range']).toBe('bytes 2-4/10')
  })

  it('overwrites a longer file and writes streams of any length', async () => {
    await post('?path=changed', 'a long text')
    await uploadFile(socket, { path: '/home/alice/changed', user: 'alice', body: 'short' })
    expect((await get('changed')).bytes.toString()).toBe('short')
    const big = Buffer.alloc(5_000_000, 'pattern ')
    await uploadFile(socket, { path: '/home/alice/big', user: 'alice', body: big })
    expect((await get('big')).bytes.equals(big)).toBe(true)
  })

  it('says what is wrong with a path as plain JSON', async () => {
    expect(await get('absent')).toMatchObject({ status: 404, headers: { 'content-type': 'application/json' } })
    expect(JSON.parse((await get('absent')).bytes.toString())).toEqual({ code: 404, message: "path '/home/alice/absent' does not exist" })
    expect((await get('/etc')).status).toBe(400)
    expect((await post('?path=/etc', 'x')).status).toBe(400)
    await expect(uploadFile(socket, { path: '/etc/passwd/x', body: 'x' })).rejects.toMatchObject({ code: 'agent_refused' })
  })

  it('describes files, folders and links', async () => {
    await bash(socket, 'cd ~; mkdir -p kinds/sub; echo 12345 > kinds/file; chmod 4751 kinds/file; ln -s file kinds/link; ln -s /absent kinds/dangling; touch -d @1700000000 kinds/file')
    const stat = async (path: string) => (await call(socket, `${files}/Stat`, { path })).reply.entry
    expect(await stat('kinds/file')).toEqual({ name: 'file', type: 'FILE_TYPE_FILE', path: '/home/alice/kinds/file', size: '6', mode: 0o4751, permissions: '-rwsr-x--x', owner: 'alice', group: 'alice', modifiedTime: '2023-11-14T22:13:20.000Z' })
    expect(await stat('kinds/link')).toMatchObject({ type: 'FILE_TYPE_SYMLINK', symlinkTarget: '/home/alice/kinds/file' })
    expect(await stat('kinds/dangling')).toMatchObject({ symlinkTarget: '/absent' })
    expect(await stat('/')).toMatchObject({ name: '/', type: 'FILE_TYPE_DIRECTORY', permissions: 'drwxr-xr-x', owner: 'root' })
    expect(await call(socket, `${files}/Stat`, { path: 'nothing' })).toMatchObject({ status: 404, reply: { code: 'not_found' } })
  })

  it('lists to the depth that is asked for, depth first and by name', async () => {
    await bash(socket, 'cd ~; mkdir -p tree/b/c tree/a; touch tree/b/c/deep tree/z')
    const names = async (depth?: number) => ((await call(socket, `${files}/ListDir`, { path: 'tree', depth })).reply.entries as { path: string }[]).map(({ path }) => path.slice('/home/alice/tree/'.length))
    expect(await names()).toEqual(['a', 'b', 'z'])
    expect(await names(2)).toEqual(['a', 'b', 'b/c', 'z'])
    expect(await names(3)).toEqual(['a', 'b', 'b/c', 'b/c/deep', 'z'])
    expect(await call(socket, `${files}/ListDir`, { path: 'tree/z' })).toMatchObject({ status: 400, reply: { code: 'invalid_argument' } })
    expect(await call(socket, `${files}/ListDir`, { path: 'no' })).toMatchObject({ status: 404, reply: { code: 'not_found' } })
  })

  it('makes, moves and removes', async () => {
    expect(await call(socket, `${files}/MakeDir`, { path: 'm/n' })).toMatchObject({ status: 200, reply: { entry: { path: '/home/alice/m/n', owner: 'alice' } } })
    expect(await call(socket, `${files}/MakeDir`, { path: 'm/n' })).toMatchObject({ status: 409, reply: { code: 'already_exists' } })
    expect(await call(socket, `${files}/Move`, { source: 'm/n', destination: 'fresh/place' })).toMatchObject({ status: 200, reply: { entry: { path: '/home/alice/fresh/place' } } })
    expect(await call(socket, `${files}/Move`, { source: 'm/n', destination: 'x' })).toMatchObject({ status: 404, reply: { code: 'not_found' } })
    expect(await call(socket, `${files}/Remove`, { path: 'fresh' })).toEqual({ status: 200, reply: {} })
    expect(await call(socket, `${files}/Remove`, { path: 'fresh' })).toEqual({ status: 200, reply: {} })
    expect((await bash(socket, 'ls -d ~/fresh ~/m/n')).exitCode).not.toBe(0)
  })

  it('reports what happens in a watched folder', async () => {
    await bash(socket, 'mkdir ~/watched; touch ~/watched/old')
    const stream = await open(socket, `${files}/WatchDir`, { path: 'watched', includeEntry: true })
    expect(await stream.next()).toEqual({ start: {} })
    const seen = async () => {
      const message = (await stream.next())?.filesystem
      return `${message?.name ?? ''} ${message?.type ?? ''} ${message?.entry?.path ?? '-'}`
    }
    await bash(socket, 'mkdir ~/watched/folder')
    expect(await seen()).toBe('folder EVENT_TYPE_CREATE /home/alice/watched/folder')
    await bash(socket, 'touch ~/watched/folder/unseen; echo x >> ~/watched/old')
    expect(await seen()).toBe('old EVENT_TYPE_WRITE /home/alice/watched/old')
    await bash(socket, 'chmod 600 ~/watched/old')
    expect(await seen()).toBe('old EVENT_TYPE_CHMOD /home/alice/watched/old')
    await bash(socket, 'rm ~/watched/old')
    expect(await seen()).toBe('old EVENT_TYPE_REMOVE -')
    stream.leave()
  })

  it('reports what happens below a watched folder, new folders included', async () => {
    await bash(socket, 'mkdir -p ~/deep/there')
    const stream = await open(socket, `${files}/WatchDir`, { path: 'deep', recursive: true })
    await stream.next()
    const seen = async () => (await stream.next())?.filesystem
    await bash(socket, 'mkdir ~/deep/there/new')
    expect(await seen()).toEqual({ name: 'there/new', type: 'EVENT_TYPE_CREATE' })
    await bash(socket, ': > ~/deep/there/new/file')
    expect(await seen()).toEqual({ name: 'there/new/file', type: 'EVENT_TYPE_CREATE' })
    await bash(socket, 'mkdir -p ~/deep/p/q/r')
    const names = new Set([(await seen())?.name, (await seen())?.name, (await seen())?.name])
    expect(names).toEqual(new Set(['p', 'p/q', 'p/q/r']))
    stream.leave()
  })

  it('refuses to watch what is no folder', async () => {
    await bash(socket, 'touch ~/plain')
    expect(await (await open(socket, `${files}/WatchDir`, { path: 'plain' })).rest()).toMatchObject([{ error: { code: 'invalid_argument' } }])
    expect(await (await open(socket, `${files}/WatchDir`, { path: 'missing' })).rest()).toMatchObject([{ error: { code: 'not_found' } }])
  })
})
