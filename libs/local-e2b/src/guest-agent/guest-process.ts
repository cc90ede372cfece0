import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, statSync } from 'node:fs'
import { Socket } from 'node:net'
import type { GuestAccount } from './accounts.ts'
import { findCommand } from './command-file.ts'
import { runtimeCommand } from './guest-runtime.ts'
import type { PipeEnds, PipeSource } from './pipe-source.ts'
import { errnoOf, RpcError } from './rpc-error.ts'

export interface ProcessConfig {
  readonly cmd: string
  readonly args: readonly string[]
  readonly envs: Readonly<Record<string, string>>
  readonly cwd?: string
}

export interface ProcessRequest {
  readonly config: ProcessConfig
  readonly tag: string | undefined
  readonly account: GuestAccount
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly withStdin: boolean
}

/** What a process reports, in the words of the protocol. */
export interface ProcessEvent {
  readonly data?: { readonly stdout?: string; readonly stderr?: string }
  readonly end?: { readonly exitCode: number; readonly exited: boolean; readonly status: string; readonly error?: string }
}

export interface ProcessListener {
  /** Says whether the listener keeps up; when not, `whenDrained` must call back. */
  event(event: ProcessEvent): boolean
  whenDrained(listener: () => void): void
}

/** One command of a caller. It outlives the connection that started it. */
export class GuestProcess {
  readonly config: ProcessConfig
  readonly tag: string | undefined
  readonly pid: number
  /** Resolves once the process is reaped, though its output may still be open. */
  readonly reaped: Promise<void>
  /** Resolves with the end event once both outputs reached their end as well. */
  readonly ended: Promise<ProcessEvent>
  readonly #child: ChildProcess
  readonly #outputs: readonly Socket[]
  readonly #listeners = new Set<ProcessListener>()
  #input: Socket | undefined
  #end: ProcessEvent | undefined

  constructor(child: ChildProcess, request: ProcessRequest, ends: { input: Socket | undefined; stdout: Socket; stderr: Socket }) {
    this.config = request.config
    this.tag = request.tag
    this.pid = child.pid ?? -1
    this.#child = child
    this.#input = ends.input
    this.#outputs = [ends.stdout, ends.stderr]
    this.reaped = once(child, 'exit').then(() => undefined)
    const closed = [this.#forward('stdout', ends.stdout), this.#forward('stderr', ends.stderr)]
    this.ended = Promise.all([this.reaped, ...closed]).then(() => this.#finish())
  }

  /** Adds a listener; one that comes after the end gets the end event at once. */
  listen(listener: ProcessListener): () => void {
    if (this.#end !== undefined) listener.event(this.#end)
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  signal(name: 'SIGKILL' | 'SIGTERM'): void {
    this.#child.kill(name)
  }

  async write(bytes: Buffer): Promise<void> {
    const input = this.#input
    if (input === undefined) throw new RpcError('failed_precondition', `stdin of process ${this.pid} is not open`)
    await new Promise<void>((resolve, reject) => {
      input.write(bytes, (error) => error ? reject(new RpcError('failed_precondition', error.message, { cause: error })) : resolve())
    })
  }

  closeInput(): void {
    this.#input?.end(() => this.#input?.destroy())
    this.#input = undefined
  }

  #forward(name: 'stdout' | 'stderr', output: Socket): Promise<void> {
    output.on('data', (chunk: Buffer) => { this.#emit({ data: { [name]: chunk.toString('base64') } }, output) })
    return new Promise((resolve) => { output.once('close', () => resolve()) })
  }

  /** A slow listener holds the output back, as a full pipe would. */
  #emit(event: ProcessEvent, output?: Socket): void {
    for (const listener of this.#listeners) {
      if (listener.event(event) || output === undefined) continue
      output.pause()
      listener.whenDrained(() => output.resume())
    }
  }

  /** Lets the output run on after a listener left that held it back. */
  resume(): void {
    for (const output of this.#outputs) output.resume()
  }

  #finish(): ProcessEvent {
    this.#input?.destroy()
    this.#end = { end: endOf(this.#child) }
    this.#emit(this.#end)
    return this.#end
  }
}

/** Starts a command as its account, with real pipes, in a session of its own. */
export async function startProcess(request: ProcessRequest, pipes: PipeSource, runtimeFolder: string): Promise<GuestProcess> {
  requireFolder(request.cwd)
  const file = findCommand(request.config.cmd, request.environment.PATH ?? '', request.cwd)
  const stdin = request.withStdin ? pipes.openForInput() : undefined
  const stdout = pipes.openForOutput()
  const stderr = pipes.openForOutput()
  try {
    const [loader, ...rest] = runtimeCommand(runtimeFolder, 'setpriv')
    const child = spawn(loader, [...rest, ...credentials(request.account), '--', file, ...request.config.args], {
      cwd: request.cwd,
      env: request.environment,
      detached: true,
      stdio: [stdin?.readEnd ?? 'ignore', stdout.writeEnd, stderr.writeEnd],
    })
    await once(child, 'spawn')
    return new GuestProcess(child, request, {
      input: stdin && inputSocket(stdin.writeEnd),
      stdout: new Socket({ fd: stdout.readEnd, readable: true, writable: false }),
      stderr: new Socket({ fd: stderr.readEnd, readable: true, writable: false }),
    })
  } catch (error) {
    closeEnds([stdin?.writeEnd, stdout.readEnd, stderr.readEnd])
    throw new RpcError('internal', `error starting process: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  } finally {
    closeEnds(handedOver(stdin, stdout, stderr))
  }
}

function handedOver(stdin: PipeEnds | undefined, stdout: PipeEnds, stderr: PipeEnds): readonly (number | undefined)[] {
  return [stdin?.readEnd, stdout.writeEnd, stderr.writeEnd]
}

function closeEnds(descriptors: readonly (number | undefined)[]): void {
  for (const descriptor of descriptors) if (descriptor !== undefined) closeSync(descriptor)
}

function inputSocket(descriptor: number): Socket {
  const socket = new Socket({ fd: descriptor, readable: false, writable: true })
  // A command that closed its input is reported to whoever writes, not thrown.
  socket.on('error', () => socket.destroy())
  return socket
}

function credentials(account: GuestAccount): readonly string[] {
  return ['--reuid', String(account.uid), '--regid', String(account.gid), '--groups', account.groups.join(',')]
}

function requireFolder(cwd: string): void {
  try {
    if (statSync(cwd).isDirectory()) return
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR') throw error
  }
  throw new RpcError('invalid_argument', `cwd '${cwd}' does not exist`)
}

function endOf(child: ChildProcess): NonNullable<ProcessEvent['end']> {
  if (child.signalCode !== null) {
    const status = `signal: ${child.signalCode}`
    return { exitCode: -1, exited: false, status, error: status }
  }
  const exitCode = child.exitCode ?? -1
  const status = `exit status ${exitCode}`
  return { exitCode, exited: true, status, ...(exitCode === 0 ? {} : { error: status }) }
}
