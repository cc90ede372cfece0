import { once } from 'node:events'
import { chmodSync, renameSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { LocalE2bError } from '../error.ts'

/** Longest path that a unix socket's address can hold. */
const longestSocketPath = 107

export interface ListeningSocket {
  /** Descriptor for a child's `stdio`. */
  readonly descriptor: number
  /** Closes this process's copy; the file and a child's copy stay. */
  release(): Promise<void>
}

/**
 * Binds a unix socket of mode 0600 at `path` for another process to accept on. It is bound under a passing name and renamed,
 * since closing our copy removes the name that was bound.
 */
export async function openListeningSocket(path: string): Promise<ListeningSocket> {
  const passing = passingName(path)
  if (!fitsSocketAddress(path)) {
    throw new LocalE2bError('start_failed', `${path} is too long for the address of a unix socket (${longestSocketPath} bytes).`)
  }
  const server = createServer()
  server.listen(passing)
  await once(server, 'listening')
  chmodSync(passing, 0o600)
  renameSync(passing, path)
  return { descriptor: descriptorOf(server), release: () => closeServer(server) }
}

/** Whether `openListeningSocket` can bind this path. */
export function fitsSocketAddress(path: string): boolean {
  return Buffer.byteLength(passingName(path)) <= longestSocketPath
}

function passingName(path: string): string {
  return `${path}.new`
}

/** Node has no public way to the descriptor of a listening pipe; the handle has carried it in every version. */
function descriptorOf(server: Server): number {
  const handle: unknown = Reflect.get(server, '_handle')
  const descriptor: unknown = typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'fd') : undefined
  if (typeof descriptor !== 'number' || descriptor < 0) {
    throw new LocalE2bError('machine_unfit', 'This version of Node does not show the descriptor of a listening socket; use Node 20, 22 or 24.')
  }
  return descriptor
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => { server.close(() => { resolve() }) })
}
