import { constants, existsSync } from 'node:fs'
import { access, chmod, copyFile, mkdir, readFile, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { basename, delimiter, join } from 'node:path'
import { sha256File, sha256Hex } from '@osworld-e2b/inventory'
import { LocalE2bError } from '../error.ts'
import { initScript, setupScript } from './guest-scripts.ts'
import { deviceSkeleton, mountTables } from './mount-tables.ts'
import { runCommand } from './run-command.ts'

export interface RuntimeRequest {
  /** Parent of the runtime folders. */
  readonly folder: string
  readonly nodeFile: string
  readonly agentFile: string
  readonly environment: Readonly<Record<string, string>>
}

const programs = ['sh', 'setpriv', 'umount', 'mkfifo']
/** `old` and `proc` are mount points. */
const folders = ['bin', 'lib', 'old', 'proc', 'mounts', 'dev', 'dev/pts', 'dev/shm']

/** Makes, once for its content, the folder with all that runs inside a guest, so that an image needs nothing; gives its path. */
export async function makeRuntimeFolder(request: RuntimeRequest): Promise<string> {
  const binaries = new Map([['node', await realpath(request.nodeFile)]])
  for (const name of programs) binaries.set(name, await findProgram(name, request.environment.PATH ?? ''))
  const libraries = await findLibraries([...binaries.values()], request)
  const digest = await runtimeDigest([...binaries.values(), ...libraries], request.agentFile)
  const target = join(request.folder, digest)
  if (existsSync(target)) return target
  const partial = `${target}.partial`
  await rm(partial, { recursive: true, force: true })
  for (const name of folders) await mkdir(join(partial, name), { recursive: true })
  for (const [name, file] of binaries) await copyProgram(file, join(partial, 'bin', name))
  for (const file of libraries) await copyProgram(file, join(partial, 'lib', basename(file)))
  await symlink(basename(loaderOf(libraries)), join(partial, 'lib', 'loader'))
  await writeFile(join(partial, 'init.sh'), initScript)
  await writeFile(join(partial, 'setup.sh'), setupScript)
  await writeMounts(partial)
  await copyFile(request.agentFile, join(partial, 'agent.cjs'))
  for (const name of ['.', ...folders]) await chmod(join(partial, name), 0o755)
  for (const name of ['init.sh', 'setup.sh', 'agent.cjs']) await chmod(join(partial, name), 0o644)
  await rename(partial, target)
  return target
}

/** Finds a program in a `PATH`; it is refused by name when absent. */
export async function findProgram(name: string, path: string): Promise<string> {
  for (const folder of [...path.split(delimiter), '/usr/sbin', '/usr/bin', '/sbin', '/bin']) {
    if (folder === '') continue
    const file = join(folder, name)
    if (await access(file, constants.X_OK).then(() => true, () => false)) return realpath(file)
  }
  throw new LocalE2bError('machine_unfit', `The program ${name} was not found; install the package that brings it.`)
}

/** Shared libraries named in the output of `ldd`, the loader among them. */
export function parseLibraries(lddOutput: string): readonly string[] {
  const found = new Set<string>()
  for (const line of lddOutput.split('\n')) {
    const file = /=> (\/\S+)/.exec(line)?.[1] ?? /^\s*(\/\S+) \(0x/.exec(line)?.[1]
    if (file !== undefined) found.add(file)
  }
  return [...found].sort()
}

async function findLibraries(binaries: readonly string[], request: RuntimeRequest): Promise<readonly string[]> {
  const output = await runCommand({ command: ['ldd', ...binaries], cwd: '/', environment: request.environment, failure: 'machine_unfit' })
  return parseLibraries(output)
}

function loaderOf(libraries: readonly string[]): string {
  const loader = libraries.find((file) => /^ld[-.]/.test(basename(file)))
  if (loader === undefined) {
    throw new LocalE2bError('machine_unfit', `No program loader among ${libraries.join(', ')}; Node must be linked dynamically against glibc.`)
  }
  return loader
}

async function runtimeDigest(files: readonly string[], agentFile: string): Promise<string> {
  const parts = [initScript, setupScript, JSON.stringify([tablesOf('.'), deviceSkeleton]), await sha256File(agentFile)]
  for (const file of files) {
    const { size, mtimeMs } = await stat(file)
    parts.push(`${file} ${size} ${mtimeMs}`)
  }
  return sha256Hex(parts.join('\n')).slice(0, 16)
}

/** Written for a sandbox's folder as working folder, which lies two below the data folder as the runtime's does. */
async function writeMounts(partial: string): Promise<void> {
  const seenFromSandbox = join('../../runtime', basename(partial, '.partial'))
  for (const [name, text] of Object.entries(tablesOf(seenFromSandbox))) await writeFile(join(partial, 'mounts', name), text, { mode: 0o644 })
  for (const name of deviceSkeleton.files) await writeFile(join(partial, 'dev', name), '', { mode: 0o666 })
  for (const [name, target] of Object.entries(deviceSkeleton.links)) await symlink(target, join(partial, 'dev', name))
}

function tablesOf(runtime: string): Readonly<Record<string, string>> {
  const tables: Record<string, string> = {}
  for (const network of ['loopback', 'host'] as const) {
    const { first, second } = mountTables(network, runtime)
    tables[`${network}.first`] = first
    tables[`${network}.second`] = second
  }
  return tables
}

async function copyProgram(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE)
  await chmod(to, 0o755)
}

/** Text of a file, or empty when there is none. */
export async function readOptional(path: string): Promise<string> {
  return existsSync(path) ? readFile(path, 'utf8') : ''
}
