import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { LocalE2bError } from '../error.ts'
import type { IdMap, IdRange } from './id-map.ts'
import { runCommand } from './run-command.ts'

export interface UserNamespace {
  /** Prefix of a command line that runs it as id 0 of this user namespace. */
  readonly enter: readonly string[]
  close(): Promise<void>
}

export interface UserNamespaceRequest {
  readonly map: IdMap
  /** Root writes the maps itself; others need the set-uid programs `newuidmap` and `newgidmap`. */
  readonly asRoot: boolean
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
}

/**
 * Keeps a user namespace open by a process that ends when its standard input closes, so also when the server dies.
 * The holder itself has no rights in it (it ran `exec` before it was mapped); `nsenter` gives them.
 */
export async function openUserNamespace(request: UserNamespaceRequest): Promise<UserNamespace> {
  const holder = spawn('unshare', ['--user', 'sh', '-c', 'echo; exec cat >/dev/null'], {
    cwd: request.cwd,
    env: request.environment,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const ended = once(holder, 'close').catch(() => undefined)
  try {
    await untilUnshared(holder)
    const pid = String(holder.pid)
    await writeMap({ request, pid, file: 'uid_map', ranges: request.map.users })
    await writeMap({ request, pid, file: 'gid_map', ranges: request.map.groups })
    return { enter: enterCommand(pid), close: () => endHolder(holder, ended) }
  } catch (error) {
    await endHolder(holder, ended)
    throw error
  }
}

function enterCommand(pid: string): readonly string[] {
  return ['nsenter', '--target', pid, '--user', '--setuid', '0', '--setgid', '0', '--']
}

async function endHolder(holder: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (holder.pid !== undefined) holder.kill('SIGKILL')
  await ended
}

async function untilUnshared(holder: ChildProcess): Promise<void> {
  let complaint = ''
  holder.stderr?.on('data', (chunk: Buffer) => { complaint += chunk.toString() })
  await new Promise<void>((resolve, reject) => {
    const refuse = (reason: string, cause?: unknown) =>
      reject(new LocalE2bError('machine_unfit', `No user namespace can be made: ${reason}. Run the doctor for the remedy.`, { cause }))
    holder.stdout?.once('data', () => resolve())
    holder.once('error', (error) => refuse(error.message, error))
    holder.once('close', () => refuse(complaint.trim() || 'unshare ended'))
  })
}

interface MapRequest {
  readonly request: UserNamespaceRequest
  readonly pid: string
  readonly file: 'uid_map' | 'gid_map'
  readonly ranges: readonly IdRange[]
}

async function writeMap({ request, pid, file, ranges }: MapRequest): Promise<void> {
  const numbers = ranges.map((range) => [range.inside, range.outside, range.count].map(String))
  if (request.asRoot) {
    await writeFile(`/proc/${pid}/${file}`, numbers.map((line) => `${line.join(' ')}\n`).join(''))
    return
  }
  const program = file === 'uid_map' ? 'newuidmap' : 'newgidmap'
  await runCommand({
    command: [program, pid, ...numbers.flat()],
    cwd: request.cwd,
    environment: request.environment,
    failure: 'machine_unfit',
  })
}
