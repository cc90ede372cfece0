import type { Command } from 'commander'

/** What the user typed, as the argument parser gives it; what was not typed is absent. */
export interface VerifyArguments {
  readonly results?: string
  readonly secretVariable?: readonly string[]
  readonly json?: boolean
}

/** The argument and the flags of `osworld verify`. */
export function addVerifyFlags(command: Command): Command {
  return command
    .argument('<run>', 'name of a run in the results folder, or path of a run folder')
    .option('--results <folder>', 'where run folders are kept (default: results/runs)')
    .option('--secret-variable <names...>', "environment variables whose values must be in no file, besides E2B_API_KEY and those of the contract's endpoints")
    .option('--json', 'one JSON document on standard output')
}
