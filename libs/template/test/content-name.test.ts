import { chmod, mkdtemp, rm, symlink, unlink, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Recipe } from '@osworld-e2b/contracts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { contentName, loadRecipe, TemplateError } from '../src/index.ts'
import { tinyRecipe, writeLibraryFile, writeTinyLibrary } from './tiny-recipe.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'content-name-'))
  await writeTinyLibrary(folder)
})

afterEach(() => rm(folder, { recursive: true, force: true }))

async function nameNow(): Promise<string> {
  const { recipe, files } = await loadRecipe(folder, 'debian-12')
  return contentName(recipe, files)
}

const recipeChanges: readonly [string, (recipe: Recipe) => Recipe][] = [
  ['the suite', (recipe) => ({ ...recipe, base: { ...recipe.base, suite: 'trixie' } })],
  ['the bootstrap variant', (recipe) => ({ ...recipe, base: { ...recipe.base, variant: 'apt' } })],
  ['a package', (recipe) => ({ ...recipe, base: { ...recipe.base, packages: ['sudo', 'psmisc'] } })],
  ['the order of packages', (recipe) => ({ ...recipe, base: { ...recipe.base, packages: ['procps', 'sudo'] } })],
  ['an apt option', (recipe) => ({ ...recipe, base: { ...recipe.base, apt_options: [] } })],
  ['a dpkg option', (recipe) => ({ ...recipe, base: { ...recipe.base, dpkg_options: ['path-exclude=/usr/share/man/*'] } })],
  ['where files go', (recipe) => ({ ...recipe, copy: [{ from: 'guest', to: '/opt/other' }] })],
  ['the name of a step', (recipe) => ({ ...recipe, steps: [{ name: 'greet', run: 'echo hello > /etc/greeting', user: 'root' }] })],
  ['the command of a step', (recipe) => ({ ...recipe, steps: recipe.steps.map((step) => ({ ...step, run: `${step.run} ` })) })],
  ['the user of a step', (recipe) => ({ ...recipe, steps: recipe.steps.map((step) => ({ ...step, user: 'nobody' })) })],
  ['the order of steps', (recipe) => ({ ...recipe, steps: recipe.steps.toReversed() })],
  ['the start command', (recipe) => ({ ...recipe, start_command: 'sleep 1d' })],
  ['the ready command', (recipe) => ({ ...recipe, ready_command: 'test -e /etc' })],
  ['the processors', (recipe) => ({ ...recipe, resources: { ...recipe.resources, cpu_count: 2 } })],
  ['the memory', (recipe) => ({ ...recipe, resources: { ...recipe.resources, memory_mb: 1024 } })],
]

const fileChanges: readonly [string, () => Promise<void>][] = [
  ['a byte of a text file', () => writeLibraryFile(folder, 'guest/message.txt', 'One line\n')],
  ['the last line break of a text file', () => writeLibraryFile(folder, 'guest/message.txt', 'one line')],
  ['a lone carriage return', () => writeLibraryFile(folder, 'guest/message.txt', 'one\rline\n')],
  ['a carriage return in a file that is no text', () => writeLibraryFile(folder, 'guest/message.txt', 'one line\0\r\n')],
  ['the execute permission of a file', () => chmod(join(folder, 'guest/bin/whoami.sh'), 0o644)],
  ['the name of a file', async () => {
    await unlink(join(folder, 'guest/message.txt'))
    await writeLibraryFile(folder, 'guest/message.text', 'one line\n')
  }],
  ['an added file', () => writeLibraryFile(folder, 'guest/.hidden', '')],
  ['an added link', () => symlink('message.txt', join(folder, 'guest/link'))],
  ['a removed file', () => unlink(join(folder, 'guest/message.txt'))],
]

const noChanges: readonly [string, () => Promise<void>][] = [
  ['the permissions that a umask cuts', () => chmod(join(folder, 'guest/message.txt'), 0o600)],
  ['which of the execute permissions are set', () => chmod(join(folder, 'guest/bin/whoami.sh'), 0o700)],
  ['the line endings of a text file', () => writeLibraryFile(folder, 'guest/message.txt', 'one line\r\n')],
  ['the time of a file', () => utimes(join(folder, 'guest/message.txt'), 1, 1)],
  ['the layout of the recipe file', () => writeLibraryFile(folder, 'recipe/debian-12.json', JSON.stringify(Object.fromEntries(Object.entries(tinyRecipe).toReversed()), null, 4))],
  ['compiled Python', () => writeLibraryFile(folder, 'guest/__pycache__/server.cpython-311.pyc', 'x')],
  ['a folder of tests', () => writeLibraryFile(folder, 'guest/tests/test_server.py', 'x')],
  ['a type checker cache', () => writeLibraryFile(folder, 'guest/.mypy_cache/3.11/x.json', 'x')],
  ['a file that the recipe does not copy', () => writeLibraryFile(folder, 'notes.md', 'x')],
]

describe('the content name', () => {
  test('is a template name with sixteen hexadecimal digits', async () => {
    expect(await nameNow()).toMatch(/^osworld-gnome-[0-9a-f]{16}$/)
  })

  test.each(recipeChanges)('changes with %s', async (_what, change) => {
    const before = await nameNow()
    await writeLibraryFile(folder, 'recipe/debian-12.json', JSON.stringify(change(tinyRecipe)))
    expect(await nameNow()).not.toBe(before)
  })

  test.each(fileChanges)('changes with %s', async (_what, change) => {
    const before = await nameNow()
    await change()
    expect(await nameNow()).not.toBe(before)
  })

  test.each(noChanges)('does not change with %s', async (_what, change) => {
    const before = await nameNow()
    await change()
    expect(await nameNow()).toBe(before)
  })

  test('is the same for the same library in another folder', async () => {
    const other = await mkdtemp(join(tmpdir(), 'content-name-'))
    await writeTinyLibrary(other)
    const { recipe, files } = await loadRecipe(other, 'debian-12')
    await rm(other, { recursive: true })
    expect(contentName(recipe, files)).toBe(await nameNow())
  })
})

describe('loading a recipe', () => {
  test.each<readonly [string, string, () => Promise<unknown>]>([
    ['a variant without a recipe', 'ubuntu-22.04', () => Promise.resolve()],
    ['a recipe that calls itself another variant', 'debian-12', () => writeLibraryFile(folder, 'recipe/debian-12.json', JSON.stringify({ ...tinyRecipe, variant: 'ubuntu-22.04' }))],
    ['a folder to copy that is not there', 'debian-12', () => rm(join(folder, 'guest'), { recursive: true })],
    ['a folder to copy that holds nothing to copy', 'debian-12', async () => {
      await rm(join(folder, 'guest'), { recursive: true })
      await writeLibraryFile(folder, 'guest/__pycache__/x.pyc', 'x')
    }],
  ])('refuses %s', async (_what, variant, prepare) => {
    await prepare()
    await expect(loadRecipe(folder, variant)).rejects.toBeInstanceOf(TemplateError)
  })

  test('names the field of a recipe that does not fit', async () => {
    await writeLibraryFile(folder, 'recipe/debian-12.json', JSON.stringify({ ...tinyRecipe, memory: 1 }))
    await expect(loadRecipe(folder, 'debian-12')).rejects.toThrow(/debian-12\.json.*memory/)
  })
})
