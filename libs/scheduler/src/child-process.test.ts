import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createRedactor, secret } from '@osworld-e2b/redaction'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Child, type ChildOutput, startChild } from './child-process.ts'

const value = 'correct-horse-battery-staple'
let folder: string
let children: Child[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'child-'))
  children = []
})
afterEach(async () => {
  for (const child of children) child.kill()
  await rm(folder, { recursive: true })
})

async function start(script: string, output: Partial<ChildOutput> = {}): Promise<Child> {
  const command = { file: process.execPath, args: ['--input-type=module', '--eval', script], environment: {}, cwd: folder }
  const child = await startChild(command, { stdoutFile: join(folder, 'out'), stderrFile: join(folder, 'err'), ...output })
  children.push(child)
  return child
}

function written(name: 'out' | 'err'): Promise<string> {
  return readFile(join(folder, name), 'utf8')
}

describe('startChild', () => {
  it('puts both outputs into their files without secrets before it says that the child has ended', async () => {
    const script = `process.stdout.write('o ${value} ' + 'x'.repeat(300_000)); process.stderr.write('e ${value}'); process.exitCode = 3`
    const child = await start(script, { redactor: createRedactor([secret(value, 'password')]) })
    expect(await child.exited).toEqual({ exitCode: 3, signal: undefined })
    expect(await written('out')).toBe(`o [secret password] ${'x'.repeat(300_000)}`)
    expect(await written('err')).toBe('e [secret password]')
  })

  it('hides token-shaped secrets when no secret was declared', async () => {
    const child = await start(`console.error('key sk-${'a'.repeat(30)}')`)
    await child.exited
    expect(await written('err')).toBe('key [secret token]\n')
  })

  it('cuts what is too much and lets the child go on to its end', async () => {
    const child = await start(`for (let line = 0; line < 20; line += 1) process.stdout.write('y'.repeat(50_000)); process.stdout.write('the end')`, { limitBytes: 100_000 })
    expect((await child.exited).exitCode).toBe(0)
    expect(await written('out')).toMatch(/^y{100000}\n\[… 834,471 bytes cut here …\]\ny{65529}the end$/)
    expect((await child.captured).stdout).toEqual({ bytesSeen: 1_000_007, bytesKept: 165_536, isCut: true })
  })

  it('ends although a process that the child left behind keeps its output open', async () => {
    const script = `
import { spawn } from 'node:child_process'
const left = spawn('sleep', ['600'], { stdio: ['ignore', 'inherit', 'inherit'], env: { PATH: '/usr/bin:/bin' } })
console.log('left', left.pid)
process.exit(0)
`
    const child = await start(script)
    expect(await child.exited).toEqual({ exitCode: 0, signal: undefined })
    expect(await written('out')).toMatch(/^left \d+\n$/)
  })

  it('leaves standard output to whoever reads it when no file is named for it', async () => {
    const command = { file: process.execPath, args: ['--eval', `console.log('mine')`], environment: {}, cwd: folder }
    const child = await startChild(command, { stderrFile: join(folder, 'err') })
    expect(await text(child.stdout)).toBe('mine\n')
    expect(await child.exited).toEqual({ exitCode: 0, signal: undefined })
    expect(await child.captured).toEqual({ stderr: { bytesSeen: 0, bytesKept: 0, isCut: false } })
  })

  it('names the signal that ended the child', async () => {
    const child = await start('setInterval(() => undefined, 60_000)')
    child.kill()
    expect(await child.exited).toEqual({ exitCode: undefined, signal: 'SIGKILL' })
  })

  it('refuses a program that is not there, and a file that cannot be written', async () => {
    const command = { file: join(folder, 'missing'), args: [], environment: {}, cwd: folder }
    await expect(startChild(command, { stderrFile: join(folder, 'err') })).rejects.toThrow(`${join(folder, 'missing')} could not be started: `)
    await expect(start('', { stdoutFile: join(folder, 'no/out') })).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
