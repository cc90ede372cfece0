import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { localServerFileSchema, localServerReadySchema, parseJsonDocument, type LocalServerFile } from '@osworld-e2b/contracts'
import { execa } from 'execa'
import { LocalE2bError } from '../error.ts'

export interface StartServerOptions {
  /** Program and arguments; the program prints one ready line, and stops when its standard input ends. */
  readonly serverCommand: readonly [string, ...string[]]
  /** All of the child's environment; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>
  /** Lines that the server writes to standard error. */
  readonly onLine: (line: string) => void
  readonly signal: AbortSignal
  /** How long each of asking and terminating may take before the next means. */
  readonly stopDeadlineMs: number
}

export interface StartedServer {
  readonly server: LocalServerFile
  /** Resolves when the server's process has ended; never rejects. */
  readonly exited: Promise<void>
  /** Ends the server: ask, wait, force. Idempotent. */
  stop(): Promise<void>
}

const linesInError = 10

/** Starts a server as leader of a process group of its own, so that a terminal's Ctrl-C leaves its end to us. */
export async function startServer(options: StartServerOptions): Promise<StartedServer> {
  const [program, ...programArguments] = options.serverCommand
  const child = execa(program, programArguments, {
    env: { ...options.environment },
    extendEnv: false,
    detached: true,
    cleanup: false,
    reject: false,
    buffer: false,
    stdin: 'pipe',
  })
  // A server that ends by itself closes this pipe; its exit is what tells.
  child.stdin.on('error', () => undefined)
  const exited = child.then(() => undefined)
  const tail: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    tail.push(line)
    if (tail.length > linesInError) tail.shift()
    options.onLine(line)
  })
  const stop = stopOnce(() => stopServer(child, exited, options.stopDeadlineMs))
  try {
    const line = await firstLine(child.stdout, exited, options.signal)
    const ready = parseJsonDocument(localServerReadySchema, `the ready line of ${program}`, line)
    const server = parseJsonDocument(localServerFileSchema, ready.server_file, await readFile(ready.server_file, 'utf8'))
    return { server, exited, stop }
  } catch (error) {
    await stop()
    throw new LocalE2bError('start_failed', `The local E2B server (${options.serverCommand.join(' ')}) did not start: ${describe(error)} ${tail.join('\n')}`.trimEnd(), { cause: error })
  }
}

/** The stream is read on after its first line, so that the server never blocks on a full pipe. */
function firstLine(stream: NodeJS.ReadableStream, exited: Promise<void>, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const stopped = () => reject(new Error('It was not ready in time, or was told to stop.'))
    signal.addEventListener('abort', stopped, { once: true })
    createInterface({ input: stream })
      .once('line', resolve)
      .once('close', () => void exited.then(() => reject(new Error('It ended before it was ready.'))))
    if (signal.aborted) stopped()
  })
}

interface StoppableChild {
  readonly pid?: number
  readonly stdin: NodeJS.WritableStream
}

function stopOnce(stop: () => Promise<void>): () => Promise<void> {
  let stopping: Promise<void> | undefined
  return () => (stopping ??= stop())
}

async function stopServer({ pid, stdin }: StoppableChild, exited: Promise<void>, deadlineMs: number): Promise<void> {
  stdin.end()
  if (pid === undefined || (await endsWithin(exited, deadlineMs))) return
  signalGroup(pid, 'SIGTERM')
  if (await endsWithin(exited, deadlineMs)) return
  signalGroup(pid, 'SIGKILL')
  await exited
}

async function endsWithin(exited: Promise<void>, deadlineMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), deadlineMs)
  })
  const ended = await Promise.race([exited.then(() => true as const), late])
  clearTimeout(timer)
  return ended
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
