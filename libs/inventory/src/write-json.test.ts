import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeJsonAtomic } from './write-json.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inventory-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('writeJsonAtomic', () => {
  it('replaces the file by a new one and leaves nothing beside it', async () => {
    const path = join(folder, 'aggregate.json')
    await writeFile(path, 'old')
    const before = (await stat(path)).ino
    await writeJsonAtomic(path, { b: 1, a: 0.5 })
    expect(await readFile(path, 'utf8')).toBe('{\n  "a": 0.5,\n  "b": 1\n}\n')
    expect((await stat(path)).ino).not.toBe(before)
    expect(await readdir(folder)).toEqual(['aggregate.json'])
  })

  it('keeps the old file when the value has no JSON', async () => {
    const path = join(folder, 'run.json')
    await writeFile(path, 'old')
    await expect(writeJsonAtomic(path, { a: undefined })).rejects.toThrow('$.a')
    expect(await readFile(path, 'utf8')).toBe('old')
    expect(await readdir(folder)).toEqual(['run.json'])
  })

  it('removes its temporary file when the rename is refused', async () => {
    await mkdir(join(folder, 'taken', 'inner'), { recursive: true })
    await expect(writeJsonAtomic(join(folder, 'taken'), {})).rejects.toThrow()
    expect(await readdir(folder)).toEqual(['taken'])
  })

  it('never shows a reader a part of a document while ten writers replace it', async () => {
    const path = join(folder, 'state.json')
    await writeJsonAtomic(path, { writer: -1, filler: '' })
    const writers = Array.from({ length: 10 }, (_, writer) => writeJsonAtomic(path, { writer, filler: 'x'.repeat(100_000) }))
    const readers = Array.from({ length: 30 }, async () => JSON.parse(await readFile(path, 'utf8')) as { writer: number })
    for (const { writer } of await Promise.all(readers)) expect(writer).toBeTypeOf('number')
    await Promise.all(writers)
    expect(await readdir(folder)).toEqual(['state.json'])
  })

  it('gives the file the mode that was asked for', async () => {
    const path = join(folder, 'server.json')
    await writeJsonAtomic(path, {}, { mode: 0o600 })
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })
})
