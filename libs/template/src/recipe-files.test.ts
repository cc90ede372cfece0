import { chmod, mkdtemp, readFile, readlink, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sha256File } from '@osworld-e2b/inventory'
import { writeLibraryFile, writeTinyLibrary } from '../test/tiny-recipe.ts'
import { collectFiles, stageFiles } from './recipe-files.ts'

let folder: string
let target: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recipe-files-'))
  target = await mkdtemp(join(tmpdir(), 'recipe-staged-'))
  await writeTinyLibrary(folder)
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
  await rm(target, { recursive: true, force: true })
})

async function stage(): Promise<void> {
  await stageFiles(folder, await collectFiles(folder, ['guest']), target)
}

async function modeOf(path: string): Promise<string> {
  return ((await stat(join(target, path))).mode & 0o7777).toString(8)
}

test('staged files and folders get the modes of the listing, whatever the checkout and the umask say', async () => {
  await chmod(join(folder, 'guest/message.txt'), 0o600)
  await chmod(join(folder, 'guest/bin/whoami.sh'), 0o2711)
  const umask = process.umask(0o077)
  await stage().finally(() => process.umask(umask))
  expect([await modeOf('guest'), await modeOf('guest/bin'), await modeOf('guest/message.txt'), await modeOf('guest/bin/whoami.sh')]).toEqual(['755', '755', '644', '755'])
})

test('staged text has the line endings that were hashed', async () => {
  await writeLibraryFile(folder, 'guest/message.txt', 'grüße\r\nzwei\r\n')
  const [, message] = await collectFiles(folder, ['guest'])
  await stage()
  expect(await readFile(join(target, 'guest/message.txt'), 'utf8')).toBe('grüße\nzwei\n')
  expect(await sha256File(join(target, 'guest/message.txt'))).toBe(message?.sha256)
})

test('links stay links, also those that lead nowhere', async () => {
  await symlink('/not/here', join(folder, 'guest/link'))
  await stage()
  expect(await readlink(join(target, 'guest/link'))).toBe('/not/here')
})

test('a file that two entries cover is listed once', async () => {
  const files = await collectFiles(folder, ['guest/bin', 'guest/', 'guest/message.txt'])
  expect(files.map((file) => file.path)).toEqual(['guest/bin/whoami.sh', 'guest/message.txt'])
})
