import { dirname, join, relative, resolve } from 'node:path'
import { writeTextAtomic } from '@osworld-e2b/inventory'
import { readRun, type ReadRunOptions } from './read-run.ts'
import { renderReport } from './render-report.ts'
import { ReportError } from './report-error.ts'

export interface WriteReportOptions extends ReadRunOptions {
  /** Where the page goes: `report.html` in the run folder unless said. Elsewhere its links lead to the run folder from there. */
  readonly output?: string
}

/** Reads a run, replaces its page by a new one, and gives the page's absolute path; throws `ReportError`. */
export async function writeReport({ output, ...options }: WriteReportOptions): Promise<string> {
  const runFolder = resolve(options.runFolder)
  const path = resolve(output ?? join(runFolder, 'report.html'))
  const page = renderReport(await readRun({ ...options, runFolder }), { folder: relative(dirname(path), runFolder) })
  try {
    await writeTextAtomic(path, page)
  } catch (error) {
    throw unwritable(path, error)
  }
  return path
}

function unwritable(path: string, error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return error
  return new ReportError('page_unwritable', `The page ${path} cannot be written (${String(error.code)}); choose a file in a folder that is there and that you may write to.`, { cause: error })
}
