import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { cacheFolder, workspace } from '../workspace.ts'

/** What the user typed, as the argument parser gives it; what was not typed is absent. */
export interface CleanArguments {
  readonly dryRun?: boolean
  readonly all?: boolean
  readonly run?: string
  readonly data?: string
  readonly results?: readonly string[]
  readonly json?: boolean
}

/** The flags of `osworld clean`. */
export function addCleanFlags(command: Command): Command {
  return command
    .option('--dry-run', 'list what would be removed, with sizes, and change nothing')
    .option('--all', 'also sandboxes of unknown runs, checkouts of unknown profiles, and templates and layers that an unfinished run or build may still use')
    .option('--run <run>', 'only the sandboxes and temporary folders of one run that nobody runs any more, by its name or folder; on E2B too, with the key of the environment')
    .option('--data <folder>', "local E2B server's data folder (default: in the user's cache)")
    .option('--results <folder...>', 'where run folders are kept, to know which runs live; they are only read (default: results/runs)')
    .option('--json', 'one JSON document on standard output')
}

/** Where the things of this account are that the verbs look at. */
export interface Places {
  readonly cacheFolder: string
  readonly dataFolder: string
  readonly results: readonly string[]
}

export function placesOf(given: { readonly data?: string; readonly results?: readonly string[] }, environment: NodeJS.ProcessEnv): Places {
  const cache = cacheFolder(environment)
  return {
    cacheFolder: cache,
    dataFolder: resolve(given.data ?? join(cache, 'local-e2b')),
    results: (given.results ?? [workspace.runs]).map((folder) => resolve(folder)),
  }
}
