import { Command, CommanderError, InvalidArgumentError } from 'commander'

export interface ServeArguments {
  readonly data: string
  readonly port: number
  readonly dieWithParent: boolean
  readonly agent: string
  readonly imageAlias: Readonly<Record<string, string>>
  readonly maxSandboxes: number
}

export type ParsedArguments = { readonly kind: 'serve'; readonly serve: ServeArguments } | { readonly kind: 'answered'; readonly exitCode: number }

export interface ArgumentsContext {
  readonly version: string
  readonly defaultAgent: string
  readonly write: (text: string) => void
  readonly writeError: (text: string) => void
}

export const usageExitCode = 2

/** Reads the command line; help, version and mistakes are answered here. */
export async function parseArguments(args: readonly string[], context: ArgumentsContext): Promise<ParsedArguments> {
  let serve: ServeArguments | undefined
  const program = buildProgram(context, (parsed) => (serve = parsed))
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return { kind: 'answered', exitCode: error.exitCode === 0 ? 0 : usageExitCode }
  }
  return serve === undefined ? { kind: 'answered', exitCode: usageExitCode } : { kind: 'serve', serve }
}

function buildProgram(context: ArgumentsContext, onServe: (serve: ServeArguments) => void): Command {
  const program = new Command('local-e2b')
    .description("E2B's API for one Linux machine; sandboxes are namespaces over a folder")
    .version(context.version)
    .exitOverride()
    .configureOutput({ writeOut: context.write, writeErr: context.writeError })
  program
    .command('serve')
    .description('serve one data folder; prints one JSON line on standard output when it answers')
    .requiredOption('--data <dir>', 'data folder: templates, sandboxes, server.json with address and key')
    .option('--port <number>', 'port on 127.0.0.1; 0 takes a free one', parsePort, 0)
    .option('--die-with-parent', 'end cleanly when standard input ends', false)
    .option('--image-alias <name=image>', 'an image name that shall stand for another image; may be repeated', addAlias, {})
    .option('--max-sandboxes <number>', 'sandboxes that may live at once', parseCount, 100)
    .option('--agent <file>', 'bundled guest agent', context.defaultAgent)
    .exitOverride()
    .configureOutput({ writeOut: context.write, writeErr: context.writeError })
    .action((options: ServeArguments) => onServe(options))
  return program
}

function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new InvalidArgumentError('It must be a port from 0 to 65535.')
}

function parseCount(text: string): number {
  const count = Number(text)
  if (/^\d{1,6}$/.test(text) && count > 0) return count
  throw new InvalidArgumentError('It must be a whole number above 0.')
}

function addAlias(text: string, before: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const separator = text.indexOf('=')
  const [name, image] = [text.slice(0, separator), text.slice(separator + 1)]
  if (separator > 0 && image !== '') return { ...before, [name]: image }
  throw new InvalidArgumentError('It must be name=image, such as ubuntu:22.04=debian:12.')
}
