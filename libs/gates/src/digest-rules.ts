import type { ContractFile } from '@osworld-e2b/contracts'
import { type Fault, fieldFault } from './fault.ts'

/** What the files of this checkout are now; undefined where there are none, or where they were not read. */
export interface FileDigests {
  readonly scriptsSha256: string | undefined
  /** Of the Python files of an agent of the user's own. */
  readonly agentSha256: string | undefined
  readonly adjustmentsSha256: string | undefined
}

/** Whether the digests that the contract was written with are those of the files that would be run. */
export function digestFaults({ scoring }: ContractFile, { scriptsSha256, agentSha256, adjustmentsSha256 }: FileDigests): readonly Fault[] {
  const { agent } = scoring
  const written = agent.kind === 'scripted' ? agent.scripts_sha256 : undefined
  return [
    ...otherDigest('scoring.agent.scripts_sha256', written, scriptsSha256),
    ...(agent.kind === 'module' ? sourceFaults(agent.source_sha256, agentSha256) : []),
    ...otherDigest('scoring.adjustments_sha256', scoring.adjustments_sha256, adjustmentsSha256),
  ]
}

/** What is paid for must not change under its authorization, and an agent with a model always may be. */
function sourceFaults(written: string | undefined, found: string | undefined): readonly Fault[] {
  const path = 'scoring.agent.source_sha256'
  if (written !== undefined || found === undefined) return otherDigest(path, written, found)
  return [fieldFault('source_sha256_missing', path, `is missing, and a run that may cost money names what its agent does; write ${found}, the digest of the files in --agent-path.`)]
}

function otherDigest(path: string, written: string | undefined, found: string | undefined): readonly Fault[] {
  if (written === undefined || found === undefined || written === found) return []
  return [fieldFault('digest_other', path, `is ${written}, but the files have ${found}; review what changed and write that digest.`)]
}
