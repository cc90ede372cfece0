import { readFile } from 'node:fs/promises'

/** The text of `file`, or undefined when there is no such file. */
export async function readTextIfPresent(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Whether `error` is the operating system's error of that name, such as `EEXIST`. */
export function hasSystemCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
