import type { Readable } from 'node:stream'
import { createInterface } from 'node:readline'
import type { Cleanup, RelayMessage, RelayRequest } from '@osworld-e2b/contracts'
import { startRelay } from '@osworld-e2b/relay'
import { connectSandboxes } from '@osworld-e2b/sandbox'
import type { Logger } from 'pino'
import { parseConfigure, parseRequest } from './configure.ts'
import { AttemptSandbox } from './attempt-sandbox.ts'
import { reasonOf } from './attempt-sandbox-error.ts'
import { isSuspicious, openEventsFile, trafficLine, type RecordEvent } from './events-file.ts'

const guestPorts = { server: 5000, cdp: 9222, vnc: 6080, vlc: 8080 }

export interface SessionOptions {
  readonly input: Readable
  /** Writes one message to the coordinator. */
  readonly send: (message: RelayMessage) => void
  readonly log: Logger
  readonly now: () => Date
  /** Aborted by a signal to this process; means the same as the end of the input. */
  readonly stop: AbortSignal
}

/**
 * Serves one attempt until the input ends or a stop is asked for; then ends its sandbox and says so. Resolves to the
 * exit code: 0, 1 when a sandbox may be left or the input broke the protocol later on, 2 when its first line is wrong.
 */
export async function serveSession(options: SessionOptions): Promise<number> {
  const { input, stop, log } = options
  const reader = createInterface({ input })
  stop.addEventListener('abort', () => reader.close(), { once: true })
  if (stop.aborted) reader.close()
  const lines = reader[Symbol.asyncIterator]()
  const first = await lines.next()
  if (first.done === true) {
    log.error('Standard input ended before the configure line.')
    return 2
  }
  let session: Session
  try {
    session = await openSession(options, first.value)
  } catch (error) {
    log.error(reasonOf(error).message)
    return 2
  }
  const brokenBy = await readRequests(session, lines)
  if (brokenBy !== undefined) log.error(`The coordinator broke the protocol: ${brokenBy}`)
  const cleanup = await session.end()
  options.send({ type: 'stopped', cleanup })
  return cleanup === 'failed' || brokenBy !== undefined ? 1 : 0
}

interface Session {
  take(request: RelayRequest): void
  end(): Promise<Cleanup>
}

async function readRequests(session: Session, lines: AsyncIterator<string>): Promise<string | undefined> {
  for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
    try {
      session.take(parseRequest(line.value))
    } catch (error) {
      return reasonOf(error).message
    }
  }
  return undefined
}

async function openSession({ send, log, now }: SessionOptions, firstLine: string): Promise<Session> {
  const configure = parseConfigure(firstLine)
  const toFile = openEventsFile(configure.events_file, now)
  const record: RecordEvent = (event) => {
    toFile(event)
    if (/^(RELAY|SANDBOX)_/.test(event.event)) log.info(event, event.event)
  }
  // The relay tells of traffic only after it has a target, which the sandbox sets.
  const relay = await startRelay({
    ports: guestPorts,
    onEvent: (event) => {
      toFile(trafficLine(event))
      if (isSuspicious(event)) sandbox.suspect()
    },
  })
  const sandbox = new AttemptSandbox({
    configure,
    sandboxes: connectSandboxes(configure.connection),
    relay,
    record,
    onLost: (message) => send({ type: 'lost', reason: 'guest_lost', message }),
  })
  record({ event: 'RELAY_LISTENING' })
  send({ type: 'listening', ports: relay.ports })
  let queue = Promise.resolve()
  return {
    take(request) {
      if (request.type === 'stop') sandbox.interrupt()
      queue = queue.then(async () => send(await serveRequest(sandbox, request)))
    },
    async end() {
      sandbox.close()
      await queue
      const cleanup = await sandbox.stop()
      await relay.close()
      return cleanup === 'none' && sandbox.sandboxesMade > 0 ? 'success' : cleanup
    },
  }
}

async function serveRequest(sandbox: AttemptSandbox, { type, id }: RelayRequest): Promise<RelayMessage> {
  try {
    if (type === 'stop') return { type: 'reply', id, ok: true, cleanup: await sandbox.stop() }
    const { sandboxId, generation } = await sandbox[type]()
    return { type: 'reply', id, ok: true, sandbox_id: sandboxId, generation }
  } catch (error) {
    return { type: 'reply', id, ok: false, error: reasonOf(error) }
  }
}
