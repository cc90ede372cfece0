import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, LocalServerFile } from '@osworld-e2b/contracts'
import { findRunningServer } from './running-server.ts'
import { startServer, type StartedServer } from './started-server.ts'

export interface AttachLocalE2bOptions {
  readonly dataFolder: string
  /** Program and arguments that serve this data folder and stop when their standard input ends; used when nobody serves it. */
  readonly serverCommand: readonly [string, ...string[]]
  /** All of the started server's environment; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>
  /** Lines that a started server writes to standard error. */
  readonly onLine?: (line: string) => void
  readonly signal?: AbortSignal
  /** For the server to answer; one minute unless given. */
  readonly startDeadlineMs?: number
  /** For a started server to stop when asked, and again when terminated; twenty seconds unless given. */
  readonly stopDeadlineMs?: number
}

export interface AttachedLocalE2b {
  readonly connection: Connection
  /** False when the server belongs to somebody else, who ends it. */
  readonly started: boolean
  /** Resolves when a server that was started here has ended; never settles for somebody else's. */
  readonly exited: Promise<void>
  /** Ends a server that was started here; leaves any other alone. Idempotent. */
  close(): Promise<void>
}

const defaultStartDeadlineMs = 60_000
const defaultStopDeadlineMs = 20_000
/** How long another starter, who won the data folder's lock, gets to answer. */
const rivalDeadlineMs = 2_000
const rivalPollMs = 100

/** Uses the server that holds the data folder, or starts one for as long as the caller needs it. */
export async function attachLocalE2b(options: AttachLocalE2bOptions): Promise<AttachedLocalE2b> {
  const running = await findRunningServer(options.dataFolder)
  if (running !== undefined) return attached(running)
  const deadline = AbortSignal.timeout(options.startDeadlineMs ?? defaultStartDeadlineMs)
  const signal = options.signal === undefined ? deadline : AbortSignal.any([options.signal, deadline])
  try {
    const { onLine = () => undefined, stopDeadlineMs = defaultStopDeadlineMs } = options
    const started = await startServer({ ...options, onLine, signal, stopDeadlineMs })
    return attached(started.server, started)
  } catch (error) {
    const rival = signal.aborted ? undefined : await awaitRival(options.dataFolder)
    if (rival === undefined) throw error
    return attached(rival)
  }
}

function attached(server: LocalServerFile, started?: StartedServer): AttachedLocalE2b {
  return {
    connection: { route: 'local', api_key: server.api_key, api_url: server.url, sandbox_url: server.url },
    started: started !== undefined,
    exited: started?.exited ?? new Promise<void>(() => undefined),
    close: async () => started?.stop(),
  }
}

/** Two programs may start at once; the one that lost the lock uses the winner's server. */
async function awaitRival(dataFolder: string): Promise<LocalServerFile | undefined> {
  for (let waitedMs = 0; waitedMs < rivalDeadlineMs; waitedMs += rivalPollMs) {
    const rival = await findRunningServer(dataFolder)
    if (rival !== undefined) return rival
    await sleep(rivalPollMs)
  }
  return undefined
}
