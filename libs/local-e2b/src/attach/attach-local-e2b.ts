import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, LocalServerFile } from '@osworld-e2b/contracts'
import { LocalE2bError } from '../error.ts'
import { readLockHolder } from '../server/lock.ts'
import { dataFolderAt } from '../store/data-folder.ts'
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
  /** For another server that holds the data folder to answer or to end; ten seconds unless given. */
  readonly holderDeadlineMs?: number
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
/** Longer than a closing server takes to end its sandboxes. */
const defaultHolderDeadlineMs = 10_000
const holderPollMs = 100

/**
 * Uses the server that holds the data folder, or starts one for as long as the caller needs it; waits for one that is
 * starting or ending. Throws `start_failed`, or `data_folder_locked` when the holder neither answers nor ends.
 */
export async function attachLocalE2b(options: AttachLocalE2bOptions): Promise<AttachedLocalE2b> {
  const deadline = performance.now() + (options.holderDeadlineMs ?? defaultHolderDeadlineMs)
  for (;;) {
    options.signal?.throwIfAborted()
    const running = await findRunningServer(options.dataFolder)
    if (running !== undefined) return attached(running)
    const holder = await readLockHolder(dataFolderAt(options.dataFolder))
    if (holder === undefined) {
      const started = await tryStart(options)
      if (started !== undefined) return attached(started.server, started)
    } else if (performance.now() > deadline) throw heldError(options.dataFolder, holder)
    await pause(options.signal)
  }
}

/** Undefined when another server took the data folder meanwhile. */
async function tryStart(options: AttachLocalE2bOptions): Promise<StartedServer | undefined> {
  const { onLine = () => undefined, stopDeadlineMs = defaultStopDeadlineMs } = options
  const deadline = AbortSignal.timeout(options.startDeadlineMs ?? defaultStartDeadlineMs)
  const signal = options.signal === undefined ? deadline : AbortSignal.any([options.signal, deadline])
  try {
    return await startServer({ ...options, onLine, signal, stopDeadlineMs })
  } catch (error) {
    if (signal.aborted || (await readLockHolder(dataFolderAt(options.dataFolder))) === undefined) throw error
    return undefined
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

function heldError(dataFolder: string, pid: number): LocalE2bError {
  return new LocalE2bError('data_folder_locked', `Another local-e2b server (pid ${pid}) holds ${dataFolder}, but neither serves it nor ends: end that process, or name another data folder.`)
}

async function pause(signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(holderPollMs, undefined, signal === undefined ? {} : { signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}
