import { Command, CommanderError } from 'commander'
import { AggregationError } from '@osworld-e2b/aggregation'
import { DocumentError } from '@osworld-e2b/contracts'
import { InventoryError } from '@osworld-e2b/inventory'
import { LocalE2bError } from '@osworld-e2b/local-e2b'
import { ModelGatewayError } from '@osworld-e2b/model-gateway'
import { RedactionError } from '@osworld-e2b/redaction'
import { ReportError } from '@osworld-e2b/report'
import { SchedulerError } from '@osworld-e2b/scheduler'
import { TemplateError } from '@osworld-e2b/template'
import { UpstreamError } from '@osworld-e2b/upstream'
import { addAssetsVerbs } from './assets/arguments.ts'
import { addCleanFlags, type CleanArguments } from './clean/arguments.ts'
import { fetchTaskAssets, listTaskAssets, verifyTaskAssets } from './commands/assets.ts'
import { clean } from './commands/clean.ts'
import { doctor } from './commands/doctor.ts'
import { addDoctorFlags, type DoctorArguments } from './doctor/arguments.ts'
import { buildInventory, checkInventory } from './commands/inventory.ts'
import { junit, type JunitArguments } from './commands/junit.ts'
import { addInventoryVerbs } from './inventory/arguments.ts'
import { report, type ReportArguments } from './commands/report.ts'
import { run } from './commands/run.ts'
import { setup } from './commands/setup.ts'
import { status, type StatusArguments } from './commands/status.ts'
import { verify } from './commands/verify.ts'
import { exitCode, type ExitCode } from './exit-code.ts'
import { addRunFlags, type RunArguments } from './run/arguments.ts'
import { RefusedError } from './run/gate.ts'
import { createSteps } from './run/steps.ts'
import { addSetupFlags, type SetupArguments } from './setup/arguments.ts'
import { addVerifyFlags, type VerifyArguments } from './verify/arguments.ts'
import { usageSentence } from './usage-sentence.ts'
import { UsageError } from './usage-error.ts'

const steps = createSteps(process.stderr)

function program(onExit: (code: ExitCode) => void): Command {
  const command = new Command('osworld')
    .description('Runs the OSWorld 1.0 desktop benchmark on E2B sandboxes.')
    .version('0.1.0')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(usageSentence(text)) })
  addSetupFlags(command.command('setup'))
    .description('Make a pinned OSWorld source ready: its package or its verified checkout, in a Python environment of its own.')
    .action((given: SetupArguments) => setup(given, { environment: process.env, steps, stdout: process.stdout }))
  addRunFlags(command.command('run'))
    .description('Run tasks with an agent, one child process and one sandbox an attempt, and print the score.')
    .action(async (given: RunArguments) => {
      onExit(await run(given, { steps, environment: process.env, stdout: process.stdout, stderr: process.stderr, force: () => process.exit(exitCode.interrupted) }))
    })
  command
    .command('report')
    .description('Write one page about a run into its folder: score with coverage, tasks, last screenshots.')
    .argument('<run>', 'name of a run in the results folder, or path of a run folder')
    .option('--results <folder>', 'where run folders are kept (default: results/runs)')
    .option('--output <file>', 'where the page goes (default: report.html in the run folder)')
    .option('--json', 'the path as one JSON line')
    .action(async (name: string, given: ReportArguments) => onExit(await report(name, given, process.stdout)))
  command
    .command('status')
    .description('Say how a run goes or how it ended, and who runs it; changes nothing.')
    .argument('<run>', 'name of a run in the results folder, or path of a run folder')
    .option('--results <folder>', 'where run folders are kept (default: results/runs)')
    .option('--watch', 'go on until nobody runs it any more')
    .option('--json', 'one JSON line; with --watch one whenever something changed')
    .action(async (name: string, given: StatusArguments) => onExit(await status(name, given, { environment: process.env, stdout: process.stdout })))
  command
    .command('junit')
    .description('Print a run as JUnit XML: a suite a domain, a case a trial.')
    .argument('<run>', 'name of a run in the results folder, or path of a run folder')
    .option('--results <folder>', 'where run folders are kept (default: results/runs)')
    .option('--output <file>', 'into this file instead of standard output; its path is printed')
    .action(async (name: string, given: JunitArguments) => onExit(await junit(name, given, process.stdout)))
  const inventoryConsole = { environment: process.env, stdout: process.stdout, stderr: process.stderr }
  addInventoryVerbs(command.command('inventory'), {
    build: async (suite, given) => onExit(await buildInventory(suite, given, inventoryConsole)),
    check: async (given) => onExit(await checkInventory(given, inventoryConsole)),
  })
  const assetsConsole = { steps, environment: process.env, stdout: process.stdout, stderr: process.stderr, force: () => process.exit(exitCode.interrupted) }
  addAssetsVerbs(command.command('assets'), {
    fetch: async (given) => onExit(await fetchTaskAssets(given, assetsConsole)),
    verify: async (given) => onExit(await verifyTaskAssets(given, assetsConsole)),
    list: async (given) => onExit(await listTaskAssets(given, assetsConsole)),
  })
  addDoctorFlags(command.command('doctor'))
    .description('Say of every need of local sandboxes whether it is there, and what to do where it is not; changes nothing.')
    .action(async (given: DoctorArguments) => onExit(await doctor(given, { environment: process.env, stdout: process.stdout })))
  addVerifyFlags(command.command('verify'))
    .description('Check a run folder against itself, and for secrets; exits 1 on any fault.')
    .action(async (name: string, given: VerifyArguments) => onExit(await verify(name, given, { environment: process.env, stdout: process.stdout, steps })))
  addCleanFlags(command.command('clean'))
    .description('Remove what nothing uses any more: sandboxes of dead runs, stale folders, old templates and environments. Never results.')
    .action(async (given: CleanArguments) => onExit(await clean(given, { environment: process.env, stdout: process.stdout })))
  return command
}

/** Errors whose message is one sentence for the user. */
const sentences = [AggregationError, DocumentError, InventoryError, LocalE2bError, ModelGatewayError, RedactionError, ReportError, SchedulerError, TemplateError, UpstreamError, UsageError]

/** A mistake of the user's or of the machine's is one sentence and exit code 2; a fault of ours shows its stack. */
function codeOf(error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCode.complete : exitCode.usage
  if (!(error instanceof Error)) throw error
  const isSystem = 'syscall' in error && 'path' in error
  const isExpected = isSystem || sentences.some((kind) => error instanceof kind)
  if (error instanceof RefusedError) {
    process.stderr.write(`${error.message}\n`)
    return exitCode.refused
  }
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
