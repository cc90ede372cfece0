import { type ContractFile, contractFileSchema, parseDocument } from '@osworld-e2b/contracts'
import type { FileDigests } from '@osworld-e2b/gates'
import type { RunOptions } from './options.ts'
import { screen } from './contract.ts'
import type { Planned } from './planned.ts'

/**
 * The contract that flags amount to; the user's own where one was given. Figures of files are written into it, so that it can be
 * authorized as it is. Flags allow more attempts at a time than there are trials, a contract does not.
 */
export function contractFileOf(options: RunOptions, planned: Planned, digests: FileDigests): ContractFile {
  if (options.contractFile !== undefined) return options.contractFile
  const { tasks, inventory } = planned
  const { profile, trials, template, maxSteps, timing, enableProxy, numEnvs, maxAttempts, attemptTimeoutSeconds, route, limits } = options
  return parseDocument(contractFileSchema, 'The contract of these options', {
    schema_version: 2,
    scoring: {
      profile,
      suite: suiteOf(options, planned),
      ...(inventory === undefined ? {} : { task_count: inventory.task_count, inventory_sha256: inventory.inventory_sha256 }),
      ...selectionOf(options, planned),
      trials,
      ...(template === undefined ? {} : { template }),
      agent: agentOf(options, digests),
      max_steps: maxSteps,
      timing,
      screen,
      enable_proxy: enableProxy,
    },
    operation: { route, num_envs: Math.max(1, Math.min(numEnvs.count, tasks.length * trials)), max_attempts_per_trial: maxAttempts, attempt_timeout_seconds: attemptTimeoutSeconds, ...limits },
  })
}

/** A contract that is kept must lead to the same folder later; in what is told, a suite has its own name. */
function suiteOf({ writeContract, source, suite: asked }: RunOptions, { suite }: Planned): string {
  return writeContract !== undefined && asked?.includes('/') === true ? source.folder : suite
}

/** None where it leaves nothing out, as in a run that is resumed. */
function selectionOf({ selection, domains }: RunOptions, { tasks, inventory }: Planned): Pick<ContractFile['scoring'], 'selection' | 'domains'> {
  if (inventory === undefined || tasks.length === inventory.task_count) return {}
  return { ...(selection.length === 0 ? {} : { selection: [...selection] }), ...(domains.length === 0 ? {} : { domains: [...domains] }) }
}

function agentOf({ agent, scripts, writtenAgent }: RunOptions, { scriptsSha256, agentSha256 }: FileDigests): unknown {
  if (agent === 'scripted') return { kind: agent, scripts, ...(scriptsSha256 === undefined ? {} : { scripts_sha256: scriptsSha256 }) }
  if (agent === 'none') return { kind: agent }
  return agent === 'module' && agentSha256 !== undefined ? { ...writtenAgent, source_sha256: agentSha256 } : writtenAgent
}
