import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { link, mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { folderBytes, watchFolder } from './folder-quota.ts'

const mebibyte = 1_048_576
let parent: string
let folder: string

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'quota-'))
  folder = join(parent, 'attempt')
  await mkdir(join(folder, 'deep/deeper'), { recursive: true })
})
afterEach(() => rm(parent, { recursive: true }))

async function fill(path: string, mebibytes: number): Promise<string> {
  await writeFile(join(parent, path), Buffer.alloc(mebibytes * mebibyte, 1))
  return join(parent, path)
}

describe('folderBytes', () => {
  it('counts files at every depth, and those outside that links lead to not at all', async () => {
    await fill('attempt/deep/deeper/file', 2)
    const outside = await fill('outside', 8)
    await symlink(outside, join(folder, 'link'))
    await symlink(parent, join(folder, 'deep/up'))
    const bytes = await folderBytes(folder, Infinity)
    expect(bytes).toBeGreaterThanOrEqual(2 * mebibyte)
    expect(bytes).toBeLessThan(2.1 * mebibyte)
  })

  it('counts a file once however often it is linked, and a hole not at all', async () => {
    const file = await fill('attempt/file', 2)
    await link(file, join(folder, 'deep/again'))
    await writeFile(join(folder, 'hole'), '')
    await truncate(join(folder, 'hole'), 1024 ** 4)
    expect(await folderBytes(folder, Infinity)).toBeLessThan(2.1 * mebibyte)
  })

  it('counts empty files too, since they fill a disk as well', async () => {
    await Promise.all(Array.from({ length: 500 }, (_, index) => writeFile(join(folder, `${index}`), '')))
    expect(await folderBytes(folder, Infinity)).toBeGreaterThanOrEqual(500 * 4_096)
  })

  it('counts a file whose name is no text', async () => {
    await writeFile(Buffer.concat([Buffer.from(`${folder}/`), Buffer.of(0xff, 0xfe)]), Buffer.alloc(mebibyte, 1))
    expect(await folderBytes(folder, Infinity)).toBeGreaterThanOrEqual(mebibyte)
  })

  it('takes a folder that is too deep to be looked into for endless', async () => {
    const script = `import os\nos.chdir(${JSON.stringify(folder)})\nfor _ in range(40):\n    os.mkdir("d" * 200)\n    os.chdir("d" * 200)`
    const [code] = (await once(spawn('python3', ['-c', script]), 'exit')) as [number]
    expect(code).toBe(0)
    expect(await folderBytes(folder, Infinity)).toBe(Infinity)
    const removal = spawn('rm', ['-rf', folder])
    await once(removal, 'exit')
  })

  it('is zero for a folder that is not there', async () => {
    expect(await folderBytes(join(parent, 'missing'), Infinity)).toBe(0)
  })
})

describe('watchFolder', () => {
  it('tells once when a folder holds more than it may, and ends', async () => {
    const told: number[] = []
    const watch = watchFolder({ folder, limitBytes: mebibyte, everyMs: 5, signal: new AbortController().signal, onExceeded: (bytes) => told.push(bytes) })
    await fill('attempt/file', 2)
    await watch
    expect(told).toHaveLength(1)
    expect(told[0]).toBeGreaterThan(mebibyte)
  })

  it('ends at once when it is asked to', async () => {
    const stop = new AbortController()
    const watch = watchFolder({ folder, limitBytes: 0, everyMs: 600_000, signal: stop.signal, onExceeded: () => expect.unreachable() })
    stop.abort()
    await watch
  })

  it('counts what was deleted and is still held open by a descendant of the given process', async () => {
    const script = `
import os, sys, time
if os.fork() == 0:
    file = open("hidden", "wb")
    os.unlink("hidden")
    file.write(b"1" * ${3 * mebibyte})
    file.flush()
    print("ready", flush=True)
    time.sleep(600)
os.wait()
`
    const child = spawn('python3', ['-c', script], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
    try {
      await once(child.stdout, 'data')
      expect(await folderBytes(folder, Infinity)).toBeLessThan(mebibyte)
      const found = await new Promise((resolve) => {
        void watchFolder({ folder, limitBytes: 2 * mebibyte, everyMs: 1, signal: new AbortController().signal, rootPid: child.pid, onExceeded: resolve })
      })
      expect(found).toBeGreaterThanOrEqual(3 * mebibyte)
    } finally {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }
  })
})
