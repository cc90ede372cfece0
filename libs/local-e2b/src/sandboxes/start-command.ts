import { createWriteStream } from 'node:fs'
import path from 'node:path'
import { describeError } from '../error.ts'
import type { Log } from '../server/log.ts'
import { runBash } from './run-bash.ts'
import type { Sandbox } from './sandbox.ts'

/**
 * Starts the template's start command in the background, as the template's user, with its output in `start.log` of the
 * sandbox's host folder. Its end, however it comes, ends nothing else.
 */
export function launchStartCommand(sandbox: Pick<Sandbox, 'id' | 'running' | 'exchanges'>, command: string, log: Log): void {
  const output = createWriteStream(path.join(sandbox.running.folder, 'start.log'), { flags: 'a', mode: 0o600 })
  output.on('error', (error) => log.warn({ sandbox: sandbox.id, reason: error.message }, 'cannot write start.log'))
  const stop = new AbortController()
  const leave = sandbox.exchanges.add(() => stop.abort())
  runBash({ agentSocket: sandbox.running.agentSocket, command, signal: stop.signal, onOutput: (_, chunk) => void output.write(chunk) })
    .then(({ exitCode }) => log.info({ sandbox: sandbox.id, exitCode }, 'start command ended'))
    .catch((error: unknown) => {
      if (!stop.signal.aborted) log.warn({ sandbox: sandbox.id, reason: describeError(error) }, 'start command failed')
    })
    .finally(() => {
      leave()
      output.end()
    })
}
