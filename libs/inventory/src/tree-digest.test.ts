import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { catalogArtifacts } from './catalog.ts'
import { sha256File, sha256Hex } from './digest.ts'
import { digestTree } from './tree-digest.ts'

const pythonTree = `
import hashlib, pathlib, sys
root = pathlib.Path(sys.argv[1])
digest = hashlib.sha256()
for path in sorted(p for p in root.rglob("*") if p.is_file()):
    digest.update(path.relative_to(root).as_posix().encode() + b"\\0" + path.read_bytes() + b"\\0")
print(digest.hexdigest())
`

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'inventory-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
}

/** Names whose order differs between path parts, whole strings, and UTF-16 units. */
const tricky = { 'a.py': '1', 'a/b.py': '2', 'a/b/c.py': '3', 'a-b/x': '4', '\uffff': '5', '\u{1f600}': '6', Z: '', 'a/\u00e9': 'é' }

describe('digestTree', () => {
  it('is the digest that Python computes over paths in parts order', async () => {
    await put(tricky)
    const expected = execFileSync('python3', ['-X', 'utf8', '-c', pythonTree, folder], { encoding: 'utf8' }).trim()
    expect(await digestTree(folder)).toBe(expected)
  })

  it('joins path and bytes by NUL', async () => {
    await put({ 'x/y': 'one', z: 'two' })
    expect(await digestTree(folder)).toBe(sha256Hex('x/y\0one\0z\0two\0'))
  })

  it('leaves out what the list does not name', async () => {
    await put({ 'a.py': '1', '__pycache__/a.pyc': '2' })
    expect(await digestTree(folder, { list: (path) => !path.includes('__pycache__') })).toBe(sha256Hex('a.py\x001\0'))
  })

  it('refuses a symbolic link by name', async () => {
    await symlink('/etc/hostname', join(folder, 'link.py'))
    await expect(digestTree(folder)).rejects.toMatchObject({ code: 'symbolic_link', message: expect.stringContaining('link.py') as string })
  })
})

describe('catalogArtifacts', () => {
  it('lists every regular file in path order, without the catalog and without following links', async () => {
    await put({ ...tricky, 'artifacts.json': '{}', 'deep/artifacts.json': '{}', 'result.txt': '1.0' })
    await symlink('/etc', join(folder, 'outside'))
    await symlink('/etc/hostname', join(folder, 'outside.txt'))
    const entries = await catalogArtifacts(folder)
    expect(entries.map(({ path }) => path)).toEqual([
      'Z', 'a/b/c.py', 'a/b.py', 'a/\u00e9', 'a-b/x', 'a.py', 'deep/artifacts.json', 'result.txt', '\uffff', '\u{1f600}',
    ])
    expect(entries.find(({ path }) => path === 'result.txt')).toEqual({ path: 'result.txt', bytes: 3, sha256: sha256Hex('1.0') })
    expect(entries.find(({ path }) => path === 'Z')?.bytes).toBe(0)
  })
})

describe('sha256File', () => {
  it('digests a file that is larger than one chunk', async () => {
    const content = Buffer.alloc(300_000, 'abcdefg')
    await writeFile(join(folder, 'big'), content)
    expect(await sha256File(join(folder, 'big'))).toBe(sha256Hex(content))
  })

  it('agrees with the published digest of the empty text', () => {
    expect(sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  })
})
