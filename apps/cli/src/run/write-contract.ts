import { stat } from 'node:fs/promises'
import type { ContractFile } from '@osworld-e2b/contracts'
import { isPaid } from '@osworld-e2b/gates'
import { writeJsonAtomic } from '@osworld-e2b/inventory'
import { UsageError } from '../usage-error.ts'
import { contractSha256 } from './contract-digest.ts'
import type { RunOptions } from './options.ts'

export interface ToWrite extends Pick<RunOptions, 'source' | 'agentFolder' | 'agentUrl'> {
  readonly file: string
}

/** Writes the contract that flags amount to, authorized for nothing, and says in a sentence how it is run. Never over another file. */
export async function writeContractFile(contract: ContractFile, { file, source, ...options }: ToWrite): Promise<string> {
  if (source.kind === 'tasks') throw new UsageError('--write-contract: a contract names its tasks by a suite, and --tasks is only a folder of them; make it a suite with a suite.json, and name it with --suite.')
  if ((await stat(file).catch(() => undefined)) !== undefined) throw new UsageError(`--write-contract: ${file} is there already; name another file, or remove it.`)
  await writeJsonAtomic(file, contract)
  const how = `run it with --contract ${[file, ...besides(contract, options)].join(' ')}`
  if (!isPaid(contract)) return `The contract is in ${file}; ${how}.`
  return `The contract is in ${file} and authorizes nothing; after reviewing it set operation.route.final and operation.execution_authorized to true in it, write "authorization": {"contract_sha256": "${finalSha256(contract)}"} into its operation, and ${how}.`
}

/** What is authorized is the contract as it will be when it is final. */
function finalSha256({ operation, ...contract }: ContractFile): string {
  return contractSha256({ ...contract, operation: { ...operation, route: { ...operation.route, final: true } } })
}

/** Flags that no contract holds, since they are places of this machine. */
function besides({ scoring: { agent }, operation }: ContractFile, { agentFolder, agentUrl }: Pick<RunOptions, 'agentFolder' | 'agentUrl'>): readonly string[] {
  if (agent.kind === 'module' && agentFolder !== undefined) return ['--agent-path', agentFolder]
  return agent.kind === 'http' && operation.agent_url_variable === undefined ? ['--agent-url', agentUrl ?? 'ADDRESS'] : []
}
