import { resolve } from 'node:path'
import { findRun, writeReport } from '@osworld-e2b/report'
import { exitCode, type ExitCode } from '../exit-code.ts'
import { workspace } from '../workspace.ts'

export interface ReportArguments {
  readonly results?: string
  readonly output?: string
  readonly json?: boolean
}

/** `osworld report RUN`: one page about a run, in its folder unless `output` says otherwise; its path is printed. */
export async function report(run: string, { results, output, json }: ReportArguments, stdout: NodeJS.WritableStream): Promise<ExitCode> {
  const runFolder = await findRun({ run, runsFolder: resolve(results ?? workspace.runs) })
  const page = await writeReport({ runFolder, now: new Date(), ...(output === undefined ? {} : { output }) })
  stdout.write(`${json === true ? JSON.stringify({ run_folder: runFolder, report: page }) : page}\n`)
  return exitCode.complete
}
