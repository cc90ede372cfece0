import { readdir, readFile, stat } from 'node:fs/promises'

/** Undefined when there is no such file. */
export async function readIfThere(path: string): Promise<Buffer | undefined> {
  return unlessMissing(readFile(path), undefined)
}

/** Names in a folder; none when there is no such folder. */
export async function namesIn(path: string): Promise<readonly string[]> {
  return unlessMissing(readdir(path), [])
}

export async function isFolder(path: string): Promise<boolean> {
  return (await unlessMissing(stat(path), undefined))?.isDirectory() ?? false
}

/** Size in bytes of a plain file; undefined for anything else, such as a device that never ends. */
export async function plainFileSize(path: string): Promise<number | undefined> {
  const found = await unlessMissing(stat(path), undefined)
  return found?.isFile() === true ? found.size : undefined
}

async function unlessMissing<Value, Missing>(reading: Promise<Value>, missing: Missing): Promise<Value | Missing> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return missing
    throw error
  }
}
