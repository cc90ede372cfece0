import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { LocalE2bError, type LocalE2bErrorCode } from '@osworld-e2b/local-e2b'
import { parseArguments, usageExitCode } from './arguments.ts'
import { serve } from './serve.ts'

/** From `src` and from `dist` alike. */
const defaultAgent = fileURLToPath(new URL('../dist/guest-agent.cjs', import.meta.url))

/** Refusals that the user's next command can mend. */
const usersToMend: readonly LocalE2bErrorCode[] = ['data_folder_locked', 'port_taken', 'machine_unfit']

async function main(args: readonly string[]): Promise<number> {
  const write = (text: string): void => void process.stdout.write(text)
  const writeError = (text: string): void => void process.stderr.write(text)
  const parsed = await parseArguments(args, { version: version(), defaultAgent, write, writeError })
  if (parsed.kind === 'answered') return parsed.exitCode
  try {
    const stopped = stopRequest(parsed.serve.dieWithParent)
    await serve(parsed.serve, { environment: process.env, pid: process.pid, nodeFile: process.execPath, write, stopped })
    return 0
  } catch (error) {
    writeError(`${error instanceof Error ? error.message : String(error)}\n`)
    return error instanceof LocalE2bError && usersToMend.includes(error.code) ? usageExitCode : 1
  }
}

/** Resolves with the cause at the first reason to end; later ones change nothing, since only a finished end leaves nothing behind. */
function stopRequest(diesWithParent: boolean): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => resolve(signal))
    process.on('uncaughtException', (error) => {
      process.stderr.write(`An error was not handled, so the server ends: ${error.stack ?? error.message}\n`)
      process.exitCode = 1
      resolve('unhandled error')
    })
    // Nobody needs the ready line when its reader is gone; the end of standard input tells that the parent is.
    process.stdout.on('error', () => undefined)
    if (!diesWithParent) return
    process.stdin.on('end', () => resolve('end of standard input')).on('error', () => resolve('end of standard input'))
    process.stdin.resume()
  })
}

function version(): string {
  const packageFile = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string }
  return packageFile.version
}

const exitCode = await main(process.argv.slice(2))
process.exit(exitCode === 0 ? (process.exitCode ?? 0) : exitCode)
