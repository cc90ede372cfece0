import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { attemptMessageSchema, type AttemptMessage, type CoordinatorMessage } from '@osworld-e2b/contracts'
import { readLines } from './json-lines.ts'

export interface ControlServer {
  /** Unix socket for exactly one attempt; in a folder of its own, mode 0700, with a short name (107 bytes at most). */
  readonly path: string
  send(message: CoordinatorMessage): void
  /** Ends the conversation: to the attempt that means "the coordinator is gone". */
  hangUp(): void
  /** Resolves once every line that the attempt wrote was handed on; at once when it never connected. */
  drained(): Promise<void>
  close(): Promise<void>
}

export interface ControlHandlers {
  onMessage(message: AttemptMessage): void
  /** A line that is no message: the attempt's fault. It is told once, and nothing more is read, since whoever writes one may write millions. */
  onBadLine(problem: string): void
}

/** Far more than an attempt of the longest task has to say; each may be answered, and nobody has to read the answers. */
const mostLines = 20_000

export async function openControlServer(temporaryFolder: string, handlers: ControlHandlers): Promise<ControlServer> {
  const folder = await mkdtemp(join(temporaryFolder, 'attempt-'))
  const path = join(folder, 'control.sock')
  let socket: Socket | undefined
  let hasHungUp = false
  /** What was said before the attempt connected. */
  const early: string[] = []
  let reading: Promise<void> = Promise.resolve()
  const server = createServer((connection) => {
    // One attempt, one connection: whoever comes second is not it.
    if (socket !== undefined) {
      connection.destroy()
      return
    }
    socket = connection
    connection.on('error', () => undefined)
    for (const line of early.splice(0)) connection.write(line)
    if (hasHungUp) connection.end()
    let lines = 0
    reading = readLines(connection, {
      onLine: (line) => {
        if (connection.destroyed) return
        lines += 1
        const problem = lines > mostLines ? `more than ${mostLines} lines` : handleLine(line, handlers)
        if (problem === undefined) return
        connection.destroy()
        handlers.onBadLine(problem)
      },
      onTooLong: () => handlers.onBadLine('a line without an end'),
    })
  })
  try {
    await listen(server, path)
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
  return {
    path,
    send: (message) => {
      const line = `${JSON.stringify(message)}\n`
      if (socket === undefined) early.push(line)
      else socket.write(line)
    },
    hangUp: () => {
      hasHungUp = true
      socket?.end()
    },
    drained: () => reading,
    close: async () => {
      socket?.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Hands the message on, or says what is wrong with the line. */
function handleLine(line: string, handlers: Pick<ControlHandlers, 'onMessage'>): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return 'a line that is not JSON'
  }
  const parsed = attemptMessageSchema.safeParse(value)
  if (!parsed.success) return parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')
  handlers.onMessage(parsed.data)
  return undefined
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => resolve())
  })
}
