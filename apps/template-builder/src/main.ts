import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { build, exitCodeFor, type BuildResult } from './build.ts'
import { parseCommandLine, type BuildArguments } from './command-line.ts'
import { printProgress, type ProgressPrinter } from './progress.ts'

const interrupted = 130
const workspaceFile = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url))

process.exitCode = await run()

async function run(): Promise<number> {
  const asked = parseCommandLine(process.argv.slice(2), { out: (text) => process.stdout.write(text), error: (text) => process.stderr.write(text) })
  if (typeof asked === 'number') return asked
  const stop = stopOnSignals()
  const progress = printProgress({ stream: process.stderr, verbose: asked.verbose, now: () => performance.now(), every })
  try {
    const result = await buildHere(asked, { progress, signal: stop.signal })
    process.stderr.write(`${result.reused ? 'The template was there already' : `The template was built in ${result.receipt.seconds} s`}; receipt: ${result.receiptFile}\n`)
    process.stdout.write(asked.json ? jsonLine(result) : `${result.template}\n`)
    return 0
  } catch (error) {
    progress.end()
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    return stop.signal.aborted ? interrupted : exitCodeFor(error)
  } finally {
    stop.release()
  }
}

function buildHere(asked: BuildArguments, { progress, signal }: { readonly progress: ProgressPrinter; readonly signal: AbortSignal }): Promise<BuildResult> {
  return build(asked, {
    environment: process.env,
    libraryFolder: workspaceFile('libs/template'),
    serverProgram: workspaceFile('apps/local-e2b-bin/dist/main.js'),
    temporaryFolder: tmpdir(),
    clock: { now: () => Date.now(), sleep: (delayMs, until) => sleep(delayMs, undefined, { signal: until }) },
    signal,
    progress,
  })
}

function jsonLine({ template, receipt, reused, receiptFile }: BuildResult): string {
  return `${JSON.stringify({ template, template_id: receipt.template_id, reused, seconds: receipt.seconds, receipt: receiptFile })}\n`
}

/** The first signal asks the build to stop; a second one ends the program as signals do. */
function stopOnSignals(): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController()
  const stop = () => controller.abort()
  process.once('SIGINT', stop).once('SIGTERM', stop)
  return { signal: controller.signal, release: () => void process.off('SIGINT', stop).off('SIGTERM', stop) }
}

function every(periodMs: number, tick: () => void): () => void {
  const timer = setInterval(tick, periodMs)
  return () => clearInterval(timer)
}
