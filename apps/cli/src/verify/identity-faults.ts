import type { Contract, ContractFile, RunDocument, VerifyFault } from '@osworld-e2b/contracts'
import { canonicalJson, sha256Hex } from '@osworld-e2b/inventory'
import { contractSha256 } from '../run/contract-digest.ts'

export interface Identity {
  readonly document: RunDocument | undefined
  readonly contract: Contract | undefined
  readonly written: ContractFile | undefined
  /** How often the run was started. */
  readonly starts: number
}

/** Whether the contracts are those that the run was made with. */
export function identityFaults(identity: Identity): readonly VerifyFault[] {
  return [...scoringFaults(identity), ...writtenFaults(identity)]
}

/** A plan with fewer tasks would be a better score. */
function scoringFaults({ document, contract }: Identity): readonly VerifyFault[] {
  if (document === undefined || contract === undefined) return []
  const recorded = document.contract.scoring_sha256
  const found = sha256Hex(canonicalJson(contract.scoring))
  if (found === recorded) return []
  const message = `contract.json is not what the run was made with: its scoring has the digest ${found}, and run.json records ${recorded}; get an unchanged copy of the folder.`
  return [{ kind: 'identity', path: 'contract.json', message }]
}

function writtenFaults({ document, contract, written, starts }: Identity): readonly VerifyFault[] {
  if (written === undefined) return []
  const path = 'written-contract.json'
  const recorded = document?.contract_sha256
  const found = contractSha256(written)
  if (recorded === undefined || found === recorded) return []
  // A later start may have been given other operational settings, and keeps the contract that it was given.
  const differing = contract === undefined || starts <= 1 ? [] : differingScoring(written, contract)
  if (starts > 1 && differing.length === 0) return []
  const what = differing.length === 0 ? `it has the digest ${found}, and run.json records ${recorded}` : `its ${differing.join(', ')} differ from contract.json`
  return [{ kind: 'identity', path, message: `${path} is not the contract that the run was started with: ${what}; get an unchanged copy of the folder.` }]
}

/** What of the scoring stands in both as it is; the rest of it follows from files. */
const common = ['profile', 'trials', 'max_steps', 'timing', 'screen', 'enable_proxy'] as const

function differingScoring({ scoring: written }: ContractFile, { scoring }: Contract): readonly string[] {
  const differing: string[] = common.filter((field) => canonicalJson(written[field]) !== canonicalJson(scoring[field]))
  if (written.template !== undefined && written.template !== scoring.template) differing.push('template')
  if (written.agent.kind !== scoring.agent.kind) differing.push('agent')
  return differing
}
