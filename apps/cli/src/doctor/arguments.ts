import type { Command } from 'commander'

/** What the user typed, as the argument parser gives it; what was not typed is absent. */
export interface DoctorArguments {
  readonly data?: string
  readonly results?: string
  readonly json?: boolean
}

/** The flags of `osworld doctor`. */
export function addDoctorFlags(command: Command): Command {
  return command
    .option('--data <folder>', "local E2B server's data folder (default: in the user's cache)")
    .option('--results <folder>', 'where run folders are kept (default: results/runs)')
    .option('--json', 'one JSON document on standard output')
}
