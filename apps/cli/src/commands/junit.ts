import { resolve } from 'node:path'
import { writeTextAtomic } from '@osworld-e2b/inventory'
import { findRun, readRun } from '@osworld-e2b/report'
import { exitCode, type ExitCode } from '../exit-code.ts'
import { junitDocument } from '../junit/junit-document.ts'
import { workspace } from '../workspace.ts'

export interface JunitArguments {
  readonly results?: string
  readonly output?: string
}

/** `osworld junit RUN`: a run as JUnit XML on standard output, or in a file whose path is printed. */
export async function junit(run: string, { results, output }: JunitArguments, stdout: NodeJS.WritableStream): Promise<ExitCode> {
  const runFolder = await findRun({ run, runsFolder: resolve(results ?? workspace.runs) })
  const text = junitDocument(await readRun({ runFolder, now: new Date() }))
  if (output === undefined) stdout.write(text)
  else {
    const file = resolve(output)
    await writeTextAtomic(file, text)
    stdout.write(`${file}\n`)
  }
  return exitCode.complete
}
