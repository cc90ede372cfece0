import { lstat, open, readFile } from 'node:fs/promises'
import { isAbsent } from './is-absent.ts'

/** What is at a path; a link counts as itself, since what it leads to is no part of the run. */
export async function kindAt(path: string): Promise<'file' | 'folder' | 'absent' | 'other'> {
  const stat = await lstat(path).catch((error: unknown) => {
    if (isAbsent(error)) return undefined
    throw error
  })
  if (stat === undefined) return 'absent'
  if (stat.isFile()) return 'file'
  return stat.isDirectory() ? 'folder' : 'other'
}

/** The text of a small file; undefined where no file is. */
export async function readText(path: string): Promise<string | undefined> {
  return (await kindAt(path)) === 'file' ? readFile(path, 'utf8') : undefined
}

const sampleBytes = 8_192

/** Whether a file looks like text: pictures, recordings and archives have a zero byte early on. */
export async function isText(path: string): Promise<boolean> {
  const file = await open(path, 'r')
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(sampleBytes), 0, sampleBytes, 0)
    return !buffer.subarray(0, bytesRead).includes(0)
  } finally {
    await file.close()
  }
}
