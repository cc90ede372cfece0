import { lstatSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { GuestAccount, GuestAccounts } from './accounts.ts'
import { EventStream } from './event-stream.ts'
import { describeEntry, type FileEntry } from './file-entry.ts'
import { FolderWatch } from './folder-watch.ts'
import { isThere, makeFolders, resolvePath } from './guest-path.ts'
import { flagField, integerField, textField, type Message } from './message.ts'
import type { StreamCall } from './process-service.ts'
import { durationHeader } from './request.ts'
import { errnoOf, RpcError } from './rpc-error.ts'

/** E2B's file service. It acts as guest root and gives what it makes to the caller's account, as E2B's does. */
export class FilesystemService {
  readonly #accounts: GuestAccounts

  constructor(accounts: GuestAccounts) {
    this.#accounts = accounts
  }

  stat(message: Message, account: GuestAccount): object {
    return { entry: this.#entry(pathField(message, 'path', account)) }
  }

  makeDir(message: Message, account: GuestAccount): object {
    const path = pathField(message, 'path', account)
    if (!makeFolders(path, account)) throw new RpcError('already_exists', `directory already exists: ${path}`)
    return { entry: this.#entry(path) }
  }

  move(message: Message, account: GuestAccount): object {
    const source = pathField(message, 'source', account)
    const destination = pathField(message, 'destination', account)
    if (!isThere(source)) throw new RpcError('not_found', `file not found: ${source}`)
    makeFolders(dirname(destination), account)
    renameSync(source, destination)
    return { entry: this.#entry(destination) }
  }

  /** What is not there counts as removed. */
  remove(message: Message, account: GuestAccount): object {
    rmSync(pathField(message, 'path', account), { recursive: true, force: true })
    return {}
  }

  listDir(message: Message, account: GuestAccount): object {
    const path = pathField(message, 'path', account)
    requireFolder(path)
    return { entries: this.#list(path, Math.max(1, integerField(message, 'depth') ?? 1)) }
  }

  watchDir(call: StreamCall): void {
    const { request, response, message, account } = call
    const stream = new EventStream(request, response, { keepalive: {} })
    try {
      const path = pathField(message, 'path', account)
      requireFolder(path)
      const withEntry = flagField(message, 'includeEntry')
      const watch = new FolderWatch(path, flagField(message, 'recursive'), ({ name, type }) => {
        stream.send({ filesystem: { name, type, ...(withEntry ? this.#entryIfThere(join(path, name)) : {}) } })
      })
      stream.onClose(() => { watch.close() })
      stream.send({ start: {} })
      limitStream(stream, durationHeader(request, 'connect-timeout-ms', 1))
    } catch (error) {
      stream.fail(error)
    }
  }

  #entry(path: string): FileEntry {
    return describeEntry(path, this.#accounts)
  }

  #entryIfThere(path: string): { entry?: FileEntry } {
    return isThere(path) ? { entry: this.#entry(path) } : {}
  }

  /** Depth first, by name; what vanishes meanwhile is left out. */
  #list(folder: string, depth: number): readonly FileEntry[] {
    return readdirSync(folder).sort().flatMap((name) => {
      const path = join(folder, name)
      if (!isThere(path)) return []
      const entry = this.#entry(path)
      return depth > 1 && lstatSync(path).isDirectory() ? [entry, ...this.#list(path, depth - 1)] : [entry]
    })
  }
}

function limitStream(stream: EventStream, timeoutMs: number | undefined): void {
  if (timeoutMs === undefined) return
  const timer = setTimeout(() => { stream.fail(new RpcError('deadline_exceeded', 'the watch reached its time limit')) }, Math.min(timeoutMs, 2 ** 31 - 1))
  stream.onClose(() => { clearTimeout(timer) })
}

function pathField(message: Message, name: string, account: GuestAccount): string {
  return resolvePath(textField(message, name), account)
}

function requireFolder(path: string): void {
  try {
    if (statSync(path).isDirectory()) return
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') throw new RpcError('not_found', `path not found: ${path}`, { cause: error })
    throw error
  }
  throw new RpcError('invalid_argument', `path is not a directory: ${path}`)
}
