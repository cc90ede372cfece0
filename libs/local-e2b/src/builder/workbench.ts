import { readdir } from 'node:fs/promises'
import { uploadFile } from '../agent-client/index.ts'
import type { NetworkMode, RunningSandbox, SandboxDriver } from '../driver.ts'
import { LocalE2bError, describeError } from '../error.ts'
import { randomLetters } from '../sandboxes/ids.ts'
import { runBash } from '../sandboxes/run-bash.ts'
import { hasSystemCode } from '../store/read-file.ts'
import type { UploadStore } from '../store/upload-store.ts'
import type { BuildState } from './build-spec.ts'
import type { LayerCache } from './layer-cache.ts'

/** What build steps work with. */
export interface Workbench {
  readonly driver: SandboxDriver
  readonly cache: LayerCache
  readonly uploads: UploadStore
  readonly layerPath: (layer: string) => string
  readonly signal: AbortSignal
}

export interface GuestCommand {
  readonly command: string
  /** The sandbox's default user and folder when left out. */
  readonly user?: string
  readonly cwd?: string
  readonly environment?: Readonly<Record<string, string>>
  readonly onLine?: (line: string) => void
}

/** Lines of a command's output that an error message repeats. */
const repeatedLines = 10
const longestLine = 4000

/** A sandbox on top of `state`; the caller destroys it. */
export async function startOn(bench: Workbench, state: BuildState, network: NetworkMode): Promise<RunningSandbox> {
  bench.signal.throwIfAborted()
  return bench.driver.start({
    id: `b${randomLetters(20)}`,
    layers: state.layers.map(bench.layerPath),
    defaults: { user: state.user, workdir: state.workdir, environment: state.environment },
    network,
    hostname: 'build',
  })
}

/** Runs one command to its end and returns its standard output; throws `build_failed` with the end of its output. */
export async function runInGuest(bench: Workbench, sandbox: RunningSandbox, command: GuestCommand): Promise<string> {
  const { onLine = () => undefined, ...place } = command
  const lines = lineSplitter(onLine)
  let standardOutput = ''
  const { exitCode, status } = await runBash({
    agentSocket: sandbox.agentSocket,
    ...place,
    signal: bench.signal,
    onOutput: (stream, chunk) => {
      const text = chunk.toString('utf8')
      if (stream === 'stdout') standardOutput += text
      lines.push(text)
    },
  }).catch((error: unknown) => {
    throw bench.signal.aborted ? bench.signal.reason : new LocalE2bError('build_failed', `command failed: ${describeError(error)}`, { cause: error })
  })
  const tail = lines.end()
  if (exitCode !== 0) throw new LocalE2bError('build_failed', `${status === '' ? `exit status ${exitCode}` : status}${tail === '' ? '' : `: ${tail}`}`)
  return standardOutput
}

export async function uploadToGuest(bench: Workbench, sandbox: RunningSandbox, file: { readonly hash: string; readonly path: string }): Promise<void> {
  if (!(await bench.uploads.has(file.hash))) {
    throw new LocalE2bError('build_failed', `the files of this step (hash ${file.hash}) were not uploaded: build again`)
  }
  await uploadFile(sandbox.agentSocket, { path: file.path, user: 'root', body: bench.uploads.open(file.hash) })
}

/** Stops the sandbox and keeps what it changed as layer `id`; false when it changed nothing. The sandbox's folder is gone after it. */
export async function keepChanges(bench: Workbench, sandbox: RunningSandbox, id: string): Promise<boolean> {
  await sandbox.stop()
  bench.signal.throwIfAborted()
  const isEmpty = await isEmptyFolder(sandbox.upperFolder)
  if (!isEmpty) {
    await bench.driver.removeFolder(bench.cache.folder(id))
    await bench.driver.keepLayer(sandbox, bench.cache.folder(id))
  }
  await sandbox.destroy()
  return !isEmpty
}

async function isEmptyFolder(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0
  } catch (error) {
    // The guest's root closed its own top folder to others; then it changed something.
    if (hasSystemCode(error, 'EACCES')) return false
    throw error
  }
}

function lineSplitter(onLine: (line: string) => void): { push(text: string): void; end(): string } {
  const last: string[] = []
  let rest = ''
  const emit = (line: string): void => {
    const text = line.replace(/\r$/, '').slice(0, longestLine)
    if (text.trim() === '') return
    onLine(text)
    last.push(text)
    if (last.length > repeatedLines) last.shift()
  }
  return {
    push(text) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) emit(line)
    },
    end() {
      emit(rest)
      return last.join('\n')
    },
  }
}
