import { Command, CommanderError } from 'commander'
import { AggregationError } from '@osworld-e2b/aggregation'
import { DocumentError } from '@osworld-e2b/contracts'
import { InventoryError } from '@osworld-e2b/inventory'
import { LocalE2bError } from '@osworld-e2b/local-e2b'
import { SchedulerError } from '@osworld-e2b/scheduler'
import { TemplateError } from '@osworld-e2b/template'
import { UpstreamError } from '@osworld-e2b/upstream'
import { run } from './commands/run.ts'
import { setup } from './commands/setup.ts'
import { exitCode, type ExitCode } from './exit-code.ts'
import type { RunArguments } from './run/options.ts'
import { createSteps } from './run/steps.ts'
import { UsageError } from './usage-error.ts'

const steps = createSteps(process.stderr)

function program(onExit: (code: ExitCode) => void): Command {
  const command = new Command('osworld')
    .description('Runs the OSWorld 1.0 desktop benchmark on E2B sandboxes.')
    .version('0.1.0')
    .exitOverride()
    .showHelpAfterError()
  command
    .command('setup')
    .description('Make the pinned OSWorld package ready, in a Python environment of its own.')
    .option('--profile <name>', 'pinned OSWorld source', 'package-1.0.2')
    .action((given: { profile: string }) => setup(given.profile, { environment: process.env, steps }))
  command
    .command('run')
    .description('Run tasks with an agent, one child process and one sandbox an attempt, and print the score.')
    .option('--suite <name>', 'suite in validation/, or a folder with a suite.json (default: starter)')
    .option('--tasks <folder>', "folder with OSWorld's task files; needs --task")
    .option('--task <domain/id...>', 'only these tasks; the beginning of an id is enough')
    .option('--agent <kind>', 'scripted, or none (does nothing)', 'scripted')
    .option('--scripts <set>', "set of the suite's scripts, or a folder with <domain>/<task-id>.json", 'solve')
    .option('--num-envs <count>', 'attempts at a time (default: at most 8, as cores and memory allow)')
    .option('--trials <count>', 'repeats of every task', '1')
    .option('--max-steps <count>', 'steps an agent may take', '100')
    .option('--max-attempts <count>', 'attempts at a trial when infrastructure fails', '3')
    .option('--attempt-timeout <seconds>', 'time for one attempt', '1800')
    .option('--timing <kind>', "settled (looks at the screen), or upstream (its fixed waits)", 'settled')
    .option('--template <name:build_id>', 'desktop template (default: the one built here)')
    .option('--profile <name>', 'pinned OSWorld source', 'package-1.0.2')
    .option('--run-id <name>', 'name of the run; an existing one is resumed')
    .option('--results <folder>', 'where run folders are kept (default: results/runs)')
    .option('--data <folder>', "local E2B server's data folder (default: in the user's cache)")
    .option('--no-record', 'do not record a video')
    .option('--json', 'events and the aggregate as JSON lines on standard output', false)
    .action(async (given: RunArguments) => {
      onExit(await run(given, { steps, environment: process.env, stdout: process.stdout, force: () => process.exit(exitCode.interrupted) }))
    })
  return command
}

/** Errors whose message is one sentence for the user. */
const sentences = [AggregationError, DocumentError, InventoryError, LocalE2bError, SchedulerError, TemplateError, UpstreamError, UsageError]

/** A mistake of the user's or of the machine's is one sentence and exit code 2; a fault of ours shows its stack. */
function codeOf(error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.complete : exitCode.usage
  if (!(error instanceof Error)) throw error
  const isSystem = 'syscall' in error && 'path' in error
  const isExpected = isSystem || sentences.some((kind) => error instanceof kind)
  process.stderr.write(`${isExpected ? error.message : (error.stack ?? error.message)}\n`)
  return isExpected ? exitCode.usage : exitCode.incomplete
}

// A reader that has gone (`| head`, a closed terminal) must not end a campaign: its record lies in the run folder.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

try {
  await program((code) => {
    process.exitCode = code
  }).parseAsync()
} catch (error) {
  process.exitCode = codeOf(error)
}
