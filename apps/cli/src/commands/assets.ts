import { setTimeout } from 'node:timers/promises'
import { assetsOfTask, fetchAssets, findPython, listAssets, loadTasks, type LoadedTask, verifyAssets } from '@osworld-e2b/upstream'
import { type AssetsArguments, type AssetsOptions, type FetchArguments, parseAssetsOptions, parseConcurrency } from '../assets/arguments.ts'
import { fetchLines, listLines, progressLine, verifyLines } from '../assets/lines.ts'
import { exitCode, type ExitCode } from '../exit-code.ts'
import { listenForInterrupts } from '../run/interrupts.ts'
import type { Console } from './run.ts'

/** `osworld assets fetch`: 0 when every file is there afterwards, 1 when one could not be had or has changed. */
export async function fetchTaskAssets(given: FetchArguments, console: Console): Promise<ExitCode> {
  const { steps, environment } = console
  const interrupts = listenForInterrupts({
    onInterrupt: 'cancel',
    drainText: 'stopping; what has come is kept. Once more forces it.',
    stopText: 'stopping; what has come is kept. Once more forces it.',
    line: (text) => steps.line(text),
    force: () => console.force(),
  })
  try {
    const options = parseAssetsOptions(given, environment)
    const concurrency = parseConcurrency(given.concurrency)
    const urls = urlsOf(await tasksOf(options))
    const python = await findPython({ environment })
    let done = 0
    const results = await fetchAssets({
      urls,
      folder: options.folder,
      concurrency,
      update: given.update ?? false,
      python: python.path,
      fetch,
      now: () => new Date(),
      sleep: (ms, signal) => setTimeout(ms, undefined, { signal }),
      onProgress: (result) => steps.line(progressLine(result, (done += 1), urls.length)),
      onWait: () => steps.line(`another fetch is using ${options.folder}; waiting for it …`),
      signal: interrupts.signal,
    })
    print(console, options.json ? { folder: options.folder, results } : fetchLines(results, options.folder))
    return results.some(({ outcome }) => outcome === 'failed' || outcome === 'changed') ? exitCode.incomplete : exitCode.complete
  } catch (error) {
    if (interrupts.signal.aborted) return exitCode.interrupted
    throw error
  } finally {
    interrupts.dispose()
  }
}

/** `osworld assets verify`: 1 when a file is missing or damaged. Without a selection it looks at all that is recorded. */
export async function verifyTaskAssets(given: AssetsArguments, { environment, stdout }: Pick<Console, 'environment' | 'stdout'>): Promise<ExitCode> {
  const options = parseAssetsOptions(given, environment)
  const { folder } = options
  const found = await verifyAssets(options.isSelected ? { folder, urls: urlsOf(await tasksOf(options)) } : { folder })
  print({ stdout }, options.json ? { folder, ...found } : verifyLines(found, folder))
  return found.problems.length === 0 ? exitCode.complete : exitCode.incomplete
}

/** `osworld assets list`: 1 when a file was not fetched yet. */
export async function listTaskAssets(given: AssetsArguments, { environment, stdout }: Pick<Console, 'environment' | 'stdout'>): Promise<ExitCode> {
  const options = parseAssetsOptions(given, environment)
  const assets = await listAssets({ tasks: await tasksOf(options), folder: options.folder })
  print({ stdout }, options.json ? { folder: options.folder, assets } : listLines(assets))
  return assets.every(({ isRecorded }) => isRecorded) ? exitCode.complete : exitCode.incomplete
}

async function tasksOf({ tasksDir, selection, domains }: AssetsOptions): Promise<readonly LoadedTask[]> {
  return (await loadTasks({ tasksDir, selection, domains })).tasks
}

function urlsOf(tasks: readonly LoadedTask[]): string[] {
  return [...new Set(tasks.flatMap(({ task }) => assetsOfTask(task).map(({ url }) => url)))]
}

function print({ stdout }: Pick<Console, 'stdout'>, said: readonly string[] | object): void {
  stdout.write(Array.isArray(said) ? `${said.join('\n')}\n` : `${JSON.stringify(said)}\n`)
}
