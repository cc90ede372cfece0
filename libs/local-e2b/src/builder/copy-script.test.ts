import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { copyCommand } from './copy-script.ts'

const run = promisify(execFile)
let folder: string
const owner = `${userInfo().uid}:${userInfo().gid}`

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'copy-'))
  await mkdir(path.join(folder, 'context/src/deep'), { recursive: true })
  await writeFile(path.join(folder, 'context/src/one.txt'), 'one')
  await writeFile(path.join(folder, 'context/src/.hidden'), 'hidden')
  await writeFile(path.join(folder, 'context/src/deep/two.txt'), 'two')
  await symlink('/nowhere', path.join(folder, 'context/link'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Does a COPY as a build does, with `members` of the context in the archive. */
async function copy(source: string, destination: string, options: { members?: string[]; mode?: string } = {}): Promise<void> {
  const stage = path.join(folder, 'stage')
  await mkdir(stage)
  await run('tar', ['-C', path.join(folder, 'context'), '-czf', path.join(stage, 'archive'), ...(options.members ?? [source])])
  const { command, environment } = copyCommand({ source, destination, owner, mode: options.mode ?? '', workdir: path.join(folder, 'guest'), stage })
  await run('/bin/bash', ['-c', command], { env: { PATH: process.env.PATH, ...environment } })
  expect(await readdir(folder)).not.toContain('stage')
}

const read = (name: string): Promise<string> => readFile(path.join(folder, 'guest', name), 'utf8')

describe('a COPY step', () => {
  it('puts a file at the exact path, making folders', async () => {
    await copy('src/one.txt', 'a/b/renamed.txt')
    expect(await read('a/b/renamed.txt')).toBe('one')
  })

  it('puts a file into a destination that ends with a slash or is a folder', async () => {
    await copy('src/one.txt', 'a/')
    await copy('src/deep/two.txt', 'a')
    expect([await read('a/one.txt'), await read('a/two.txt')]).toEqual(['one', 'two'])
  })

  it('puts the content of a folder into the destination, hidden files too', async () => {
    await copy('./src/', 'app')
    expect((await readdir(path.join(folder, 'guest/app'))).sort()).toEqual(['.hidden', 'deep', 'one.txt'])
    expect(await read('app/deep/two.txt')).toBe('two')
  })

  it('puts what a pattern matched into the destination', async () => {
    await copy('src/*.txt', 'app', { members: ['src/one.txt'] })
    await copy('**/*.txt', 'all', { members: ['src/one.txt', 'src/deep/two.txt'] })
    expect(await readdir(path.join(folder, 'guest/app'))).toEqual(['one.txt'])
    expect(await read('all/src/deep/two.txt')).toBe('two')
  })

  it('keeps a dangling link a link', async () => {
    await copy('link', 'l')
    expect(await readlink(path.join(folder, 'guest/l'))).toBe('/nowhere')
  })

  it('leaves owner and mode of folders that exist, and sets the mode of what it copies', async () => {
    await mkdir(path.join(folder, 'guest/app/deep'), { recursive: true, mode: 0o711 })
    await copy('src', 'app', { mode: '0750' })
    const modes = await Promise.all(['app/deep', 'app/one.txt'].map(async (name) => (await stat(path.join(folder, 'guest', name))).mode & 0o777))
    expect(modes.map((mode) => mode.toString(8))).toEqual(['711', '750'])
  })

  it('fails with a sentence when the archive lacks the source', async () => {
    await expect(copy('other.txt', 'a', { members: ['src/one.txt'] })).rejects.toThrow("the archive holds no './other.txt'")
  })
})
