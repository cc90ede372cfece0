import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openFolderCare, type FolderCare } from './folder-care.ts'

let outer: string
let dataFolder: string
let care: FolderCare
beforeEach(async () => {
  outer = await mkdtemp(join(tmpdir(), 'folder-care-'))
  dataFolder = join(outer, 'data')
  await mkdir(join(dataFolder, 'layers', 'one', 'deep'), { recursive: true })
  await mkdir(join(outer, 'precious'))
  await writeFile(join(outer, 'precious', 'file'), 'keep me')
  const { uid, gid, username: name } = userInfo()
  care = await openFolderCare({ dataFolder, account: { uid, gid, name }, environment: process.env })
})
afterEach(async () => {
  await care.close()
  await rm(outer, { recursive: true, force: true })
})

const precious = () => readFile(join(outer, 'precious', 'file'), 'utf8')

test('removes a folder and the links in it, but not what they lead to', async () => {
  await symlink(join(outer, 'precious'), join(dataFolder, 'layers', 'one', 'link'))
  await symlink(join(outer, 'precious', 'file'), join(dataFolder, 'layers', 'one', 'deep', 'link'))
  await care.remove(join(dataFolder, 'layers', 'one'))
  expect(await readdir(join(dataFolder, 'layers'))).toEqual([])
  expect(await precious()).toBe('keep me')
})

test('removes a link that stands in a place of a folder, and not what it leads to', async () => {
  await symlink(join(outer, 'precious'), join(dataFolder, 'layers', 'two'))
  await care.remove(join(dataFolder, 'layers', 'two'))
  expect(existsSync(join(dataFolder, 'layers', 'two'))).toBe(false)
  expect(await precious()).toBe('keep me')
})

test.each(['../precious', '.', 'layers/../../precious', 'bases/file'])('refuses %s, which is not inside the data folder', async (path) => {
  await symlink(join(outer, 'precious'), join(dataFolder, 'bases'))
  await expect(care.remove(join(dataFolder, path))).rejects.toMatchObject({ code: 'data_folder_invalid' })
  expect(await precious()).toBe('keep me')
})

test('goes on where a removal was broken off, and takes an absent path for removed', async () => {
  await mkdir(join(dataFolder, 'layers', 'gone.partial', 'rest'), { recursive: true })
  await care.remove(join(dataFolder, 'layers', 'gone.partial'))
  await care.remove(join(dataFolder, 'layers', 'never'))
  expect(await readdir(join(dataFolder, 'layers'))).toEqual(['one'])
})

test('measures what lies on disk and not what a link leads to; absent paths have no size', async () => {
  const file = join(dataFolder, 'layers', 'one', 'file')
  await writeFile(file, Buffer.alloc(1 << 20, 1))
  await writeFile(join(outer, 'precious', 'big'), Buffer.alloc(8 << 20, 1))
  await symlink(join(outer, 'precious', 'big'), join(dataFolder, 'layers', 'one', 'link'))
  const absent = join(dataFolder, 'layers', 'absent')
  const sizes = await care.measure([join(dataFolder, 'layers', 'one'), absent])
  expect(sizes.get(join(dataFolder, 'layers', 'one'))).toBeGreaterThanOrEqual(1 << 20)
  expect(sizes.get(join(dataFolder, 'layers', 'one'))).toBeLessThan(2 << 20)
  expect(sizes.has(absent)).toBe(false)
})
