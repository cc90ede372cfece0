import { chmod, lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sha256Hex } from '@osworld-e2b/inventory'
import { TemplateError } from './template-error.ts'

export type RecipeFileMode = '0644' | '0755' | 'symlink'

/** One file that a recipe copies into the image, in the form in which it is hashed and sent. */
export interface RecipeFile {
  /** Relative to the library folder, with forward slashes. */
  readonly path: string
  /** What a checkout's umask and line-ending settings cannot change. */
  readonly mode: RecipeFileMode
  /** Of the normalised bytes; for a symbolic link of its target. */
  readonly sha256: string
}

/** Left behind by tools, or for the developer only; matched by the name of any part of a path. */
const neverCopied = new Set(['__pycache__', 'tests', '.git', '.venv', 'node_modules', '.mypy_cache', '.ruff_cache', '.pytest_cache', '.DS_Store'])
const neverCopiedEndings = ['.pyc', '.pyo', '.egg-info', '.swp', '~']

/** Lists all files below the given folders (or single files) of `folder`, sorted by path. */
export async function collectFiles(folder: string, roots: readonly string[]): Promise<readonly RecipeFile[]> {
  const files = new Map<string, RecipeFile>()
  for (const root of roots) {
    const found = await listPaths(folder, root.replace(/\/+$/, ''))
    if (found.length === 0) throw new TemplateError('recipe_file_missing', `The recipe copies ${root}, but ${join(folder, root)} holds no file.`)
    for (const path of found) files.set(path, await describeFile(folder, path))
  }
  return [...files.values()].sort((left, right) => (left.path < right.path ? -1 : 1))
}

/** Writes the files below `target` with the modes and bytes that were hashed, whatever the checkout or umask made of them. */
export async function stageFiles(folder: string, files: readonly RecipeFile[], target: string): Promise<void> {
  for (const file of files) {
    const destination = join(target, file.path)
    await makeFolders(target, dirname(file.path))
    if (file.mode === 'symlink') await symlink(await readlink(join(folder, file.path)), destination)
    else await writeWithMode(destination, normaliseBytes(await readFile(join(folder, file.path))), Number.parseInt(file.mode, 8))
  }
}

async function listPaths(folder: string, path: string): Promise<readonly string[]> {
  if (isLeftOut(path)) return []
  const stats = await lstat(join(folder, path)).catch((error: unknown) => {
    throw new TemplateError('recipe_file_missing', `The recipe copies ${path}, which cannot be read in ${folder}.`, error)
  })
  if (!stats.isDirectory()) return [path]
  const nested = await Promise.all((await readdir(join(folder, path))).map((name) => listPaths(folder, `${path}/${name}`)))
  return nested.flat()
}

function isLeftOut(path: string): boolean {
  return path.split('/').some((part) => neverCopied.has(part) || neverCopiedEndings.some((ending) => part.endsWith(ending)))
}

async function describeFile(folder: string, path: string): Promise<RecipeFile> {
  const stats = await lstat(join(folder, path))
  if (stats.isSymbolicLink()) return { path, mode: 'symlink', sha256: sha256Hex(await readlink(join(folder, path))) }
  if (!stats.isFile()) throw new TemplateError('recipe_file_kind', `${join(folder, path)} is neither a file, a folder nor a symbolic link; a recipe cannot copy it.`)
  const bytes = normaliseBytes(await readFile(join(folder, path)))
  return { path, mode: (stats.mode & 0o111) === 0 ? '0644' : '0755', sha256: sha256Hex(bytes) }
}

/** Text gets LF line endings; a file with a NUL byte is no text. */
function normaliseBytes(bytes: Buffer): Buffer {
  if (bytes.includes(0) || !bytes.includes('\r\n')) return bytes
  return Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
}

/** `mkdir` and `writeFile` modes are cut by the umask, `chmod` is not. */
async function makeFolders(target: string, relative: string): Promise<void> {
  if (relative === '.') return
  await makeFolders(target, dirname(relative))
  await mkdir(join(target, relative), { recursive: true })
  await chmod(join(target, relative), 0o755)
}

async function writeWithMode(path: string, bytes: Buffer, mode: number): Promise<void> {
  await writeFile(path, bytes)
  await chmod(path, mode)
}
