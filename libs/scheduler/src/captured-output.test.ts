import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { createRedactor, secret } from '@osworld-e2b/redaction'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { captureOutput, type CapturedOutput } from './captured-output.ts'

const value = 'correct-horse-battery-staple'
const redactor = createRedactor([secret(value, 'password')])
const tailBytes = 65_536
let folder: string
let path: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'capture-'))
  path = join(folder, 'stdout.log')
})
afterEach(() => rm(folder, { recursive: true }))

async function capture(source: Readable, limitBytes: number): Promise<CapturedOutput> {
  return captureOutput({ source, file: await open(path, 'a'), redactor, limitBytes }).done
}

async function untilFileHolds(text: string): Promise<void> {
  for (let attempt = 0; (await readFile(path, 'utf8')) !== text; attempt += 1) {
    if (attempt > 500) throw new Error(`The file still holds ${JSON.stringify(await readFile(path, 'utf8'))}.`)
    await wait(10)
  }
}

describe('captureOutput', () => {
  it('writes what comes, without secrets, also where a chunk ends within one', async () => {
    const result = await capture(Readable.from([Buffer.from('one correct-hor'), Buffer.from('se-battery-staple two\nsk-'), Buffer.from(`${'a'.repeat(30)} end`)]), 1_000)
    expect(await readFile(path, 'utf8')).toBe('one [secret password] two\n[secret token] end')
    expect(result).toEqual({ bytesSeen: 44, bytesKept: 44, isCut: false })
  })

  it('shows a line in the file while the output still goes on', async () => {
    const source = new PassThrough()
    const { done } = captureOutput({ source, file: await open(path, 'a'), redactor, limitBytes: 1_000 })
    source.write('first line\nsecond')
    await untilFileHolds('first line\n')
    source.end()
    await done
    expect(await readFile(path, 'utf8')).toBe('first line\nsecond')
  })

  it('keeps the beginning and the last 64 KiB of too much output and says how much lies between', async () => {
    const lines = Array.from({ length: 40_000 }, (_, index) => `line ${String(index).padStart(6, '0')}\n`)
    const text = lines.join('')
    const limitBytes = 120_000
    const result = await capture(Readable.from(lines.map((line) => Buffer.from(line))), limitBytes)
    const cut = text.length - limitBytes - tailBytes
    expect(await readFile(path, 'utf8')).toBe(`${text.slice(0, limitBytes)}\n[… ${cut.toLocaleString('en-US')} bytes cut here …]\n${text.slice(-tailBytes)}`)
    expect(result).toEqual({ bytesSeen: text.length, bytesKept: limitBytes + tailBytes, isCut: true })
  })

  it.each([1, tailBytes - 1, tailBytes])('cuts nothing when only %i bytes are too many', async (excess) => {
    const text = 'x'.repeat(1_000 + excess)
    expect(await capture(Readable.from([Buffer.from(text)]), 1_000)).toEqual({ bytesSeen: text.length, bytesKept: text.length, isCut: false })
    expect(await readFile(path, 'utf8')).toBe(text)
  })

  it('hides a secret that lies across the limit or across the cut', async () => {
    const text = `${'a'.repeat(990)} ${value} ${'b'.repeat(100_000)} ${value} ${'c'.repeat(tailBytes - 10)}`
    await capture(Readable.from([Buffer.from(text)]), 1_000)
    const kept = await readFile(path, 'utf8')
    expect(kept).toContain('bytes cut here')
    for (const part of ['correct', 'horse', 'battery', 'staple']) expect(kept).not.toContain(part)
  })

  it('ends when it is told to, with what came so far', async () => {
    const source = new PassThrough()
    const { done, stop } = captureOutput({ source, file: await open(path, 'a'), redactor, limitBytes: 1_000 })
    source.write('only this')
    await new Promise(setImmediate)
    stop()
    expect(await done).toEqual({ bytesSeen: 9, bytesKept: 9, isCut: false })
    expect(await readFile(path, 'utf8')).toBe('only this')
  })

  it('reads on to the end when the disk is full, and says so', async () => {
    const source = Readable.from([Buffer.from('a\n'), Buffer.from('b\n')])
    const result = await captureOutput({ source, file: await open('/dev/full', 'a'), redactor, limitBytes: 1_000 }).done
    expect(result).toEqual({ bytesSeen: 4, bytesKept: 0, isCut: false, writeProblem: expect.stringContaining('ENOSPC') as string })
  })
})
