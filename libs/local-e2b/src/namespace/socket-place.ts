import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { fitsSocketAddress } from './listening-socket.ts'

export interface SocketPlace {
  readonly path: string
  close(): Promise<void>
}

/**
 * Where a folder's socket is bound and reached. A socket's address holds 107 bytes, so in a folder with a longer path it is named by a
 * descriptor of the folder, which stays open until the place is closed. `pid` is this process's, so that others of its account can name it too.
 */
export async function openSocketPlace(folder: string, pid: number): Promise<SocketPlace> {
  const path = join(folder, 'agent.sock')
  if (fitsSocketAddress(path)) return { path, close: () => Promise.resolve() }
  const opened = await open(folder, 'r')
  return { path: `/proc/${pid}/fd/${opened.fd}/agent.sock`, close: () => opened.close() }
}
