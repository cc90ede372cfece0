import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Contract, type ContractFile, contractSchema, parseDocument, type TemplateRef } from '@osworld-e2b/contracts'
import { canonicalJson, sha256Hex } from '@osworld-e2b/inventory'
import type { RunOptions } from './options.ts'
import type { Selection } from './selection.ts'

export const screen = { width: 1920, height: 1080 } as const

/** Digest of the profile's declared adjustments, as every attempt reports it too. */
export async function adjustmentsSha256(profileFolder: string): Promise<string> {
  return sha256Hex(canonicalJson(JSON.parse(await readFile(join(profileFolder, 'adjustments.json'), 'utf8'))))
}

/** What every plan of E2B allows; a server of one's own takes what it can. */
const e2bLaunchesPerSecond = 1

export interface ContractInput {
  readonly options: RunOptions
  readonly written: ContractFile
  readonly selection: Selection
  readonly template: TemplateRef
  readonly adjustmentsSha256: string
}

/** What a run records: the written contract's settings, with its tasks, scripts and adjustments by their digests. */
export function resolveContract({ options, written: { scoring, operation, comparison }, selection, template, adjustmentsSha256: adjustments }: ContractInput): Contract {
  const { scripts, inventory, tasks, suite } = selection
  return parseDocument(contractSchema, 'The contract of this run', {
    schema_version: 2,
    scoring: {
      profile: scoring.profile,
      suite,
      ...(inventory === undefined ? {} : { inventory_sha256: inventory.inventory_sha256 }),
      tasks: tasks.map(({ task: { key, sha256 } }) => ({ ...key, task_sha256: sha256 })),
      trials: scoring.trials,
      template,
      agent: scripts === undefined ? scoring.agent : { kind: 'scripted', scripts: scripts.name, scripts_sha256: scripts.sha256 },
      max_steps: scoring.max_steps,
      timing: scoring.timing,
      screen: scoring.screen,
      enable_proxy: scoring.enable_proxy,
      adjustments_sha256: adjustments,
    },
    operation: {
      ...operation,
      ...(operation.route.kind === 'e2b' ? { launches_per_second: operation.launches_per_second ?? e2bLaunchesPerSecond } : {}),
      num_envs: options.numEnvs.count,
      source: options.source,
      ...(scripts === undefined ? {} : { scripts_folder: scripts.folder }),
    },
    comparison,
  })
}
