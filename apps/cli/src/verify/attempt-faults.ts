import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { AttemptRecord, AttemptState, TrialKey } from '@osworld-e2b/aggregation'
import { type Catalog, catalogSchema, type Contract, type VerifyFault } from '@osworld-e2b/contracts'
import { type CatalogFinding, compareCatalog, sha256File } from '@osworld-e2b/inventory'
import { unchangedCopy, type VerifyContext } from './context.ts'
import { parsed } from './documents.ts'
import { evidenceFaults } from './evidence-faults.ts'
import { isAbsent } from './is-absent.ts'
import { kindAt, readText } from './read-text.ts'

export interface AttemptToVerify {
  readonly key: TrialKey
  readonly record: AttemptRecord
  readonly contract: Contract | undefined
}

type Ended = Extract<AttemptState, { phase: 'terminal' }>

/** Everything about one ended attempt: its catalog, each of its files, its task, its result, and secrets in its texts. */
export async function* attemptFaults(context: VerifyContext, attempt: AttemptToVerify & { readonly state: Ended }): AsyncGenerator<VerifyFault> {
  const { attemptDir } = attempt.record
  const place = await placeOf(context.folder, attemptDir)
  if (place === 'elsewhere') {
    yield { kind: 'leftover', path: attemptDir, message: `${attemptDir} is reached through a link, which is no part of a run folder, and was not looked into; ${unchangedCopy}` }
    return
  }
  const { catalogSha256 } = attempt.state
  if (place === 'absent') {
    if (catalogSha256 !== undefined) yield { kind: 'catalog', path: attemptDir, message: `${attemptDir} is missing, and the ledger names its catalog; ${unchangedCopy}` }
    return
  }
  const catalog = await readCatalog(context.folder, attemptDir, catalogSha256)
  yield* catalog.faults
  yield* fileFaults(context, attemptDir, catalog.catalog)
  yield* await evidenceFaults(context.folder, attempt)
}

async function placeOf(folder: string, path: string): Promise<'there' | 'absent' | 'elsewhere'> {
  try {
    return (await realpath(join(folder, path))) === join(folder, path) && (await kindAt(join(folder, path))) === 'folder' ? 'there' : 'elsewhere'
  } catch (error) {
    if (isAbsent(error)) return (await kindAt(join(folder, path))) === 'absent' ? 'absent' : 'elsewhere'
    throw error
  }
}

interface CatalogRead {
  /** Undefined when it is not the one that the ledger names: then nothing vouches for the files. */
  readonly catalog: Catalog | undefined
  readonly faults: readonly VerifyFault[]
}

async function readCatalog(folder: string, attemptDir: string, expected: string | undefined): Promise<CatalogRead> {
  const path = `${attemptDir}/artifacts.json`
  const fault = (message: string): CatalogRead => ({ catalog: undefined, faults: [{ kind: 'catalog', path, message }] })
  const text = await readText(join(folder, path))
  if (text === undefined) return fault(`${path} is missing, so nothing vouches for the attempt's files; ${unchangedCopy}`)
  if (expected === undefined) return fault(`The ledger names no catalog of ${attemptDir}, which has one; ${unchangedCopy}`)
  const found = await sha256File(join(folder, path))
  if (found !== expected) return fault(`${path} has the SHA-256 ${found}, and the ledger names ${expected}, so nothing vouches for the attempt's files; ${unchangedCopy}`)
  const faults: VerifyFault[] = []
  return { catalog: parsed(catalogSchema, path, { text, faults }), faults }
}

/** Without its catalog the files of an attempt are looked through for secrets only. */
async function* fileFaults({ folder, checked, findSecrets }: VerifyContext, attemptDir: string, catalog: Catalog | undefined): AsyncGenerator<VerifyFault> {
  for await (const finding of compareCatalog(join(folder, attemptDir), catalog?.artifacts)) {
    const path = `${attemptDir}/${finding.path}`
    const isExpected = finding.kind === 'same' || (finding.kind === 'uncatalogued' && catalog === undefined)
    if (!isExpected) yield fileFault(path, finding)
    if (finding.kind === 'same' || finding.kind === 'changed') {
      checked.artifacts += 1
      checked.bytes += finding.bytes
    }
    if (finding.kind === 'same' || finding.kind === 'changed' || finding.kind === 'uncatalogued') yield* await findSecrets(path)
  }
}

function fileFault(path: string, finding: Exclude<CatalogFinding, { kind: 'same' }>): VerifyFault {
  switch (finding.kind) {
    case 'changed': {
      const { bytes, sha256, entry } = finding
      return { kind: 'artifact', path, message: `${path} was changed: it has ${bytes} bytes and the SHA-256 ${sha256}, and the catalog says ${entry.bytes} bytes and ${entry.sha256}; ${unchangedCopy}` }
    }
    case 'missing':
      return { kind: 'artifact', path, message: `${path} is missing, and the catalog has it; ${unchangedCopy}` }
    case 'uncatalogued':
      return { kind: 'artifact', path, message: `${path} is in no catalog, so it was put there after the attempt; move it out of the run folder.` }
    case 'unreadable':
      return { kind: 'artifact', path, message: `${path} cannot be read (${finding.problem}); mend that and verify again.` }
    case 'no_file':
      return strangeFault(path, finding.is)
  }
}

/** For what is no regular file; it is not opened and not followed. */
export function strangeFault(path: string, is: 'symbolic_link' | 'other'): VerifyFault {
  const what = is === 'symbolic_link' ? 'a link' : 'a socket, pipe or device'
  return { kind: 'leftover', path, message: `${path} is ${what}, which is no evidence and is in no catalog; remove it.` }
}
