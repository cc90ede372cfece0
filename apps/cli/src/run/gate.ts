import type { Capabilities, ContractFile, PreflightEvidence } from '@osworld-e2b/contracts'
import { stat } from 'node:fs/promises'
import { checkExecution, type Fault, type FileDigests, isPaid, type PackageAgents, preflight } from '@osworld-e2b/gates'
import { canonicalJson } from '@osworld-e2b/inventory'
import { exitCode, type ExitCode } from '../exit-code.ts'
import { contractSha256 } from './contract-digest.ts'
import { contractFileOf } from './contract-of-options.ts'
import { packageProfile } from '../setup/git-profile.ts'
import type { RunOptions } from './options.ts'
import type { PinnedSource } from './pinned-source.ts'
import type { Planned } from './planned.ts'
import type { Recorded } from './recorded.ts'
import { readMounts, readSecretText } from './secret-files.ts'

/** A contract that a gate refuses; every fault is one sentence. */
export class RefusedError extends Error {
  readonly faults: readonly Fault[]

  constructor(faults: readonly Fault[]) {
    super(faults.map(({ message }) => message).join('\n'))
    this.name = 'RefusedError'
    this.faults = faults
  }
}

export interface GateInput {
  readonly options: RunOptions
  readonly source: PinnedSource
  readonly planned: Planned
  /** Of what this checkout would run. */
  readonly digests: FileDigests
  /** Of OSWorld's package; undefined for a pinned source. */
  readonly agents: PackageAgents | undefined
}

/** What a run that passed its gates may record. */
export interface Passed {
  readonly contract: ContractFile
  readonly evidence: PreflightEvidence
  readonly capabilities: Capabilities
  /** What is printed instead of the evidence, where the contract was only written. */
  readonly announcement?: string
}

/** A run that may cost money goes on only under a contract; throws `RefusedError`. Its failed tasks are another run, with a contract to be written. */
export function refuseUnauthorizedRepeat(recorded: Recorded | undefined, contract: ContractFile | undefined): void {
  if (recorded?.isResumed !== true || contract !== undefined || !isPaid(recorded.contract)) return
  throw new RefusedError([{ rule: 'authorization_missing', message: 'The earlier run may cost money, so it is resumed only with the contract that authorizes it: give --contract.' }])
}

/** Flags authorize nothing: what may cost money is run under a contract that somebody reviewed; throws `RefusedError`. */
export function refuseFlagsAlone({ contractFile }: Pick<RunOptions, 'contractFile'>, contract: ContractFile): void {
  if (contractFile !== undefined || !isPaid(contract)) return
  throw new RefusedError([{ rule: 'contract_missing', message: 'This run may cost money, and flags authorize nothing; write the contract that they amount to with --write-contract FILE, review it, and run it with --contract FILE.' }])
}

/** All rules at once; throws `RefusedError` with every fault. Writes nothing. */
export async function passPreflight({ options, source, planned, digests, agents }: GateInput): Promise<Passed> {
  const contract = contractFileOf(options, planned, digests)
  const { profiles, isBuiltIn } = source
  const [proxyFile, secretMounts] = await Promise.all([options.proxyFile === undefined ? undefined : readSecretText(options.proxyFile), readMounts(options.secretMounts)])
  const verdict = preflight({ contract, contractSha256: contractSha256(contract), digests, hasSettings: await isSettingsThere(options), profiles, isBuiltIn, packageProfiles: [packageProfile], agents, inventory: planned.inventory, tasks: planned.tasks, proxyFile, secretMounts })
  if (!verdict.ok) throw new RefusedError(verdict.faults)
  return { contract, evidence: verdict.evidence, capabilities: verdict.evidence.capabilities }
}

/** Prints the line by which programs know that a contract passed, or where it was written. */
export function printPreflight({ evidence, announcement }: Passed, stdout: NodeJS.WritableStream): ExitCode {
  stdout.write(`${announcement ?? `PREFLIGHT_OK ${canonicalJson(evidence)}`}\n`)
  return exitCode.complete
}

async function isSettingsThere({ settingsFolder }: RunOptions): Promise<boolean | undefined> {
  if (settingsFolder === undefined) return undefined
  return (await stat(settingsFolder).catch(() => undefined))?.isDirectory() === true
}

export interface ExecutionInput {
  readonly contract: ContractFile
  readonly prices: Pick<RunOptions['prices'], 'table' | 'sandboxHourUsd'>
  readonly agentUrl: RunOptions['agentUrl']
  readonly environment: NodeJS.ProcessEnv
  readonly now: Date
}

/** Whether this contract may be carried out here and now; throws `RefusedError` with every fault. Attempts that cannot be confined are refused elsewhere. */
export function requireExecution({ contract, prices, agentUrl, environment, now }: ExecutionInput): void {
  const endpoints = contract.operation.endpoints ?? []
  const addresses = new Map(endpoints.flatMap(({ label }): [string, string][] => (environment[label] === undefined ? [] : [[label, environment[label]]])))
  const keysSet = new Set(endpoints.flatMap(({ api_key_variable: key }) => (key === undefined || (environment[key] ?? '') === '' ? [] : [key])))
  const { table, sandboxHourUsd } = prices
  const faults = checkExecution({ contract, contractSha256: contractSha256(contract), addresses, keysSet, agentUrl, prices: table, sandboxHourUsd, nowMs: now.getTime(), isConfined: true })
  if (faults.length > 0) throw new RefusedError(faults)
}
