import { readFileSync } from 'node:fs'
import type { RelayMessage } from '@osworld-e2b/contracts'
import { pino } from 'pino'
import { serveSession } from './session.ts'

const help = `Usage: relay-bin [--help | --version]

Owns one attempt's sandbox and serves its ports on 127.0.0.1. Reads JSON lines on standard input, first "configure",
then "start", "reset" and "stop"; writes JSON lines on standard output, first "listening". The end of standard input,
SIGTERM and SIGINT end the sandbox; the last line is "stopped". Log lines go to standard error.
Exit codes: 0 ended clean, 1 a sandbox may be left or the input broke the protocol, 2 wrong arguments or first line.
`

async function main(args: readonly string[]): Promise<number> {
  const [argument, ...more] = args
  if (argument === undefined) return run()
  if (argument === '--help' && more.length === 0) process.stdout.write(help)
  else if (argument === '--version' && more.length === 0) process.stdout.write(`${version()}\n`)
  else {
    process.stderr.write(`Unknown arguments: ${args.join(' ')}\n\n${help}`)
    return 2
  }
  return 0
}

async function run(): Promise<number> {
  const log = pino({ redact: ['*.api_key', 'api_key', '*.connection.api_key'] }, pino.destination({ dest: 2, sync: true }))
  const stop = new AbortController()
  const failures: unknown[] = []
  const send = (message: RelayMessage): void => void process.stdout.write(`${JSON.stringify(message)}\n`)
  const fail = (error: unknown): void => {
    log.fatal({ err: error }, 'An error was not handled; the sandbox is ended.')
    if (failures.length === 0) send({ type: 'lost', reason: 'relay_failed', message: error instanceof Error ? error.message : String(error) })
    failures.push(error)
    stop.abort()
  }
  process.on('uncaughtException', fail)
  process.on('unhandledRejection', fail)
  // A second signal changes nothing: only a finished clean-up leaves no sandbox behind.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop.abort())
  process.stdout.on('error', (error) => {
    log.error({ err: error }, 'Nobody reads standard output any more; the sandbox is ended.')
    stop.abort()
  })
  const exitCode = await serveSession({ input: process.stdin, send, log, now: () => new Date(), stop: stop.signal })
  return failures.length > 0 ? 1 : exitCode
}

function version(): string {
  const packageFile = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string }
  return packageFile.version
}

process.exit(await main(process.argv.slice(2)))
