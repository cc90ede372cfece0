import { setTimeout } from 'node:timers/promises'
import type { Connection } from '@osworld-e2b/contracts'
import { attachLocalE2b } from '@osworld-e2b/local-e2b'
import { workspace } from '../workspace.ts'
import { childEnvironment } from './processes.ts'
import type { RunOptions } from './options.ts'

export interface Server {
  readonly connection: Connection
  /** Aborts when the server is gone while the run goes on. */
  readonly lost: AbortSignal
  close(): Promise<void>
}

const lookEveryMs = 2_000
const looksUntilLost = 3

/** The local server that holds the data folder, or one of our own for the time of the run; watched either way. */
export async function attachServer(options: RunOptions, environment: NodeJS.ProcessEnv, signal: AbortSignal): Promise<Server> {
  const attached = await attachLocalE2b({
    dataFolder: options.dataFolder,
    serverCommand: [process.execPath, workspace.localServerMain, 'serve', '--data', options.dataFolder, '--die-with-parent'],
    environment: childEnvironment(environment),
    signal,
  })
  const lost = new AbortController()
  const closed = new AbortController()
  const report = () => {
    if (!closed.signal.aborted) lost.abort(new Error('The local E2B server is gone; start the run again with the same --run-id to go on.'))
  }
  if (attached.started) void attached.exited.then(report)
  else void watch(attached.connection.api_url ?? '', closed.signal).then(report)
  return {
    connection: attached.connection,
    lost: lost.signal,
    close: async () => {
      closed.abort()
      await attached.close()
    },
  }
}

/** Resolves when a server that belongs to somebody else has not answered several times, or when it is not needed any more. */
async function watch(url: string, closed: AbortSignal): Promise<void> {
  for (let missed = 0; missed < looksUntilLost && !closed.aborted; ) {
    await setTimeout(lookEveryMs, undefined, { signal: closed }).catch(() => undefined)
    missed = (await answers(url)) ? 0 : missed + 1
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`, { signal: AbortSignal.timeout(lookEveryMs) })).ok
  } catch {
    return false
  }
}
