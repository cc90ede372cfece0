import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { recipeSchema, routeSchema, type Route } from '@osworld-e2b/contracts'

export interface BuildArguments {
  readonly variant: string
  readonly route: Route
  /** Data folder of the local server; its default depends on the environment. */
  readonly data?: string
  readonly receipt?: string
  readonly library?: string
  readonly json: boolean
  readonly verbose: boolean
  readonly deadlineSeconds: number
}

export interface TextOutput {
  out(text: string): void
  error(text: string): void
}

/** What the command line asks for, or the exit code when it was about help or cannot be understood. */
export function parseCommandLine(commandLine: readonly string[], output: TextOutput): BuildArguments | number {
  let parsed: BuildArguments | undefined
  const program = new Command('template-builder').description('Builds desktop templates for OSWorld sandboxes.')
  program.exitOverride().configureOutput({ writeOut: (text) => output.out(text), writeErr: (text) => output.error(text) })
  declareBuild(program, output).action((options: BuildArguments) => {
    parsed = options
  })
  try {
    program.parse([...commandLine], { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    throw error
  }
  return parsed ?? 2
}

function declareBuild(program: Command, output: TextOutput): Command {
  return program
    .command('build')
    .description('Builds the template, or finds the ready one of the same content; prints name:build_id.')
    .addOption(new Option('--variant <name>', 'which recipe').choices(recipeSchema.shape.variant.options).default('debian-12'))
    .addOption(new Option('--route <kind>', 'where the template is built').choices(routeSchema.options).default('local'))
    .option('--data <folder>', 'data folder of the local server (default: osworld-e2b/local-e2b in the cache folder)')
    .option('--receipt <file>', 'where the receipt goes (default: results/templates/<name>.json)')
    .option('--library <folder>', "template library with recipe/ and its files (default: this workspace's)")
    .addOption(new Option('--deadline-seconds <number>', 'for the whole build').argParser(parseSeconds).default(7_200))
    .option('--json', 'print one line of JSON instead of name:build_id', false)
    .option('--verbose', 'show every line of the build', false)
    .exitOverride()
    .configureOutput({ writeOut: (text) => output.out(text), writeErr: (text) => output.error(text) })
}

function parseSeconds(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It takes a whole number of seconds above zero.')
}
