import { realpath } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseDocument, type VerifyFault, verifyReportSchema } from '@osworld-e2b/contracts'
import { createScanner } from '@osworld-e2b/redaction'
import { findRun } from '@osworld-e2b/report'
import { exitCode, type ExitCode } from '../exit-code.ts'
import { UsageError } from '../usage-error.ts'
import type { VerifyArguments } from '../verify/arguments.ts'
import { readDocuments } from '../verify/documents.ts'
import { secretFinder } from '../verify/find-secrets.ts'
import { progressLines } from '../verify/progress.ts'
import { kindAt } from '../verify/read-text.ts'
import { faultLine, totalLine } from '../verify/report-lines.ts'
import { ownerOf } from '../verify/run-lock.ts'
import { secretsToFind } from '../verify/secrets-to-find.ts'
import { verifyRun } from '../verify/verify-run.ts'
import { workspace } from '../workspace.ts'
import type { Console } from './run.ts'

/** `osworld verify RUN`: checks a run folder against itself and for secrets; 1 when anything is at fault. Changes nothing. */
export async function verify(run: string, given: VerifyArguments, { environment, stdout, steps }: Pick<Console, 'environment' | 'stdout' | 'steps'>): Promise<ExitCode> {
  const folder = await runFolderOf(run, given)
  // First who owns it, then what it holds: whoever begins in between is not judged by what was there before.
  const owner = await ownerOf(folder)
  if (owner !== undefined) steps.line(`The run is going on (process ${owner.pid} on ${owner.host}): what it is writing is not judged.`)
  const documents = await readDocuments(folder)
  const secrets = secretsToFind({ named: given.secretVariable ?? [], contract: documents.contract, environment })
  const faults: VerifyFault[] = []
  const onFault = (fault: VerifyFault): void => {
    faults.push(fault)
    if (given.json !== true) stdout.write(`${faultLine(fault)}\n`)
  }
  const onProgress = progressLines({ line: (text) => steps.line(text), nowMs: () => performance.now() })
  const checked = await verifyRun({ folder, documents, owner, findSecrets: secretFinder({ folder, scanner: createScanner(secrets), variables: new Set(secrets.map(({ label }) => label)) }), onFault, onNote: (text) => steps.line(text), onProgress })
  const report = parseDocument(verifyReportSchema, 'the report', { schema_version: 1, run_id: documents.document?.run_id ?? basename(folder), checked, faults })
  stdout.write(`${given.json === true ? JSON.stringify(report) : totalLine(report)}\n`)
  return faults.length === 0 ? exitCode.complete : exitCode.incomplete
}

/** Without links in its path. What has none of a run's own files is no run; with one of them, what is missing is a fault. */
async function runFolderOf(run: string, { results }: VerifyArguments): Promise<string> {
  const folder = await findRun({ run, runsFolder: resolve(results ?? workspace.runs) })
  const kinds = await Promise.all(['run.json', 'contract.json', 'attempts.jsonl'].map((name) => kindAt(join(folder, name))))
  if (kinds.every((kind) => kind === 'absent')) throw new UsageError(`There is no run in ${folder}: give the name of a run in the results folder, or the path of a run folder.`)
  return realpath(folder)
}
