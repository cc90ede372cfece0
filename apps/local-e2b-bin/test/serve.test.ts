import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { localServerFileSchema, localServerReadySchema, parseJsonDocument } from '@osworld-e2b/contracts'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

interface Program {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>
  readonly firstLine: Promise<string>
  readonly ended: Promise<{ readonly exitCode: number | null; readonly errors: string }>
}

let folder: string
let mainFile: string
let agentFile: string
const children: Program['child'][] = []

async function bundle(source: string, outfile: string, format: 'esm' | 'cjs'): Promise<void> {
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: 'node',
    format,
    target: 'node20',
    conditions: ['@osworld-e2b/source', 'node', 'import', 'default'],
    ...(format === 'esm' ? { banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" } } : {}),
    logLevel: 'error',
  })
}

function run(...args: string[]): Program {
  const child = spawn(process.execPath, [mainFile, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })
  children.push(child)
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const firstLine = once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line))
  firstLine.catch(() => undefined)
  return { child, firstLine, ended: once(child, 'close').then(([exitCode]) => ({ exitCode: exitCode as number | null, errors })) }
}

function serve(data: string, ...more: string[]): Program {
  return run('serve', '--data', data, '--agent', agentFile, ...more)
}

async function ready(program: Program): Promise<{ url: string; server_file: string }> {
  const ended = program.ended.then(({ errors }) => Promise.reject(new Error(`The server ended: ${errors}`)))
  return parseJsonDocument(localServerReadySchema, 'ready line', await Promise.race([program.firstLine, ended]))
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'e2bbin-'))
  mainFile = path.join(folder, 'app/dist/main.mjs')
  agentFile = path.join(folder, 'guest-agent.cjs')
  const project = path.join(import.meta.dirname, '..')
  await bundle(path.join(project, 'src/main.ts'), mainFile, 'esm')
  await bundle(path.join(project, '../../libs/local-e2b/src/guest-agent/main.ts'), agentFile, 'cjs')
  await writeFile(path.join(folder, 'app/package.json'), '{"version": "1.2.3"}')
})

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

describe('local-e2b serve', () => {
  it('prints one ready line, answers with the key of its file, and ends cleanly at SIGTERM', async () => {
    const data = path.join(folder, 'one')
    const program = serve(data)
    const { url, server_file } = await ready(program)
    const file = parseJsonDocument(localServerFileSchema, server_file, await readFile(server_file, 'utf8'))
    expect([file.url, file.pid]).toEqual([url, program.child.pid])
    expect((await fetch(`${url}/v2/sandboxes`)).status).toBe(401)
    expect(await (await fetch(`${url}/v2/sandboxes`, { headers: { 'X-API-KEY': file.api_key } })).json()).toEqual([])
    program.child.kill('SIGTERM')
    const { exitCode, errors } = await program.ended
    expect(exitCode).toBe(0)
    const log = await readFile(path.join(data, 'server.log'), 'utf8')
    expect([log, errors].join('\n')).not.toContain(file.api_key)
    expect(log).toContain('server closed')
    expect((await stat(path.join(data, 'server.log'))).mode & 0o777).toBe(0o600)
    expect(await readdir(data)).not.toContain('server.lock')
  })

  it('keeps its key from one run to the next, and takes the port it was given', async () => {
    const data = path.join(folder, 'two')
    const keys: string[] = []
    let port = '0'
    while (keys.length < 2) {
      const program = serve(data, '--port', port)
      const { url, server_file } = await ready(program)
      if (port !== '0') expect(new URL(url).port).toBe(port)
      port = new URL(url).port
      keys.push(parseJsonDocument(localServerFileSchema, server_file, await readFile(server_file, 'utf8')).api_key)
      program.child.kill('SIGINT')
      expect((await program.ended).exitCode).toBe(0)
    }
    expect(keys[0]).toBe(keys[1])
  })

  it('ends with its standard input when told to', async () => {
    const program = serve(path.join(folder, 'three'), '--die-with-parent')
    const { url } = await ready(program)
    program.child.stdin.end()
    expect((await program.ended).exitCode).toBe(0)
    await expect(fetch(url)).rejects.toThrow()
  })

  it('refuses a data folder that a living server holds, naming its address and pid', async () => {
    const data = path.join(folder, 'four')
    const holder = serve(data)
    const { url } = await ready(holder)
    const { exitCode, errors } = await serve(data).ended
    expect(exitCode).toBe(2)
    expect(errors).toContain(url)
    expect(errors).toContain(`pid ${holder.child.pid ?? 0}`)
    holder.child.kill('SIGTERM')
    await holder.ended
  })

  it('refuses a port that another program has, in one sentence, and gives the data folder back', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const data = path.join(folder, 'taken')
    const refused = await serve(data, '--port', String(port)).ended
    other.close()
    expect(refused).toEqual({ exitCode: 2, errors: `Port ${port} on 127.0.0.1 is taken by another program: choose another port, or 0 for a free one.\n` })
    expect(await readdir(data)).not.toContain('server.lock')
  })

  it('takes over after a server that was killed', async () => {
    const data = path.join(folder, 'five')
    const first = serve(data)
    await ready(first)
    first.child.kill('SIGKILL')
    await first.ended
    const second = serve(data)
    await ready(second)
    second.child.kill('SIGTERM')
    expect((await second.ended).exitCode).toBe(0)
  })

  it.each([
    [['serve'], '--data'],
    [['serve', '--data', 'x', '--port', '99999'], 'port'],
    [['serve', '--data', 'x', '--image-alias', 'nothing'], 'name=image'],
    [['sevre'], 'sevre'],
  ])('answers the mistake in %j with exit code 2', async (args, word) => {
    const { exitCode, errors } = await run(...args).ended
    expect(exitCode).toBe(2)
    expect(errors).toContain(word)
  })

  it('tells its version', async () => {
    const program = run('--version')
    expect(await program.firstLine).toBe('1.2.3')
    expect((await program.ended).exitCode).toBe(0)
  })
})
