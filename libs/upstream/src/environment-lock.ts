import { createReadStream } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { execa } from 'execa'

export interface LockOptions {
  readonly path: string
  /** Any Python: Node has no file locks. */
  readonly python: string
  readonly onWait: () => void
  readonly signal?: AbortSignal | undefined
}

export interface FileLock {
  /** An empty file: the standard input of children whose work the lock protects. It is held until the last of them has ended. */
  input(): Readable
  release(): Promise<void>
}

/** `flock` belongs to the open file, which the helper shares with this process; so it outlives the helper and no crash can leave it behind. */
const takeLock = `
import fcntl
try:
    fcntl.flock(0, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    print("waiting", flush=True)
    fcntl.flock(0, fcntl.LOCK_EX)
`

/** Waits until nobody else holds the lock file; calls `onWait` when there is somebody. */
export async function acquireFileLock({ path, python, onWait, signal }: LockOptions): Promise<FileLock> {
  await mkdir(dirname(path), { recursive: true })
  const file = await open(path, 'a+')
  const input = (): Readable => createReadStream(path, { fd: file.fd, autoClose: false })
  try {
    await execa(python, ['-I', '-c', takeLock], {
      env: {},
      extendEnv: false,
      stdin: input(),
      stdout: function* (line: unknown) {
        onWait()
        yield line
      },
      ...(signal === undefined ? {} : { cancelSignal: signal }),
    })
  } catch (error) {
    await file.close()
    throw error
  }
  return { input, release: () => file.close() }
}
