import { findRunningServer } from '../attach/running-server.ts'
import { readLockHolder } from '../server/lock.ts'
import { dataFolderAt } from '../store/data-folder.ts'

/** Who serves a data folder now: nobody, a server that answers at `url`, or a process that holds it and does not answer. */
export type Serving =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'silent'; readonly pid: number }
  | { readonly kind: 'answers'; readonly pid: number; readonly url: string; readonly apiKey: string }

/** Looks without starting or changing anything; a server that does not answer is waited for up to three seconds. */
export async function readServing(dataFolder: string): Promise<Serving> {
  const running = await findRunningServer(dataFolder)
  if (running !== undefined) return { kind: 'answers', pid: running.pid, url: running.url, apiKey: running.api_key }
  const pid = await readLockHolder(dataFolderAt(dataFolder))
  return pid === undefined ? { kind: 'nobody' } : { kind: 'silent', pid }
}
