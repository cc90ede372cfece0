import { execa } from 'execa'
import { type Environment, interpreterNames, packageIndexNames, pick } from './environment.ts'
import type { FileLock } from './environment-lock.ts'
import { interpreterPath } from './environment-marker.ts'
import type { Python } from './find-python.ts'
import { countRequirements, readRequirementsFile } from './requirements.ts'
import { UpstreamError } from './upstream-error.ts'

export interface EnvironmentWork {
  readonly folder: string
  readonly python: Python
  readonly requirementsFile: string
  readonly environment: Environment
  /** Every child holds the lock too, so that one which outlives this process keeps the next maker waiting. */
  readonly lock: FileLock
  readonly signal?: AbortSignal
}

const shownErrorLines = 12

/** An empty environment with pip. */
export async function createEnvironment(work: EnvironmentWork): Promise<void> {
  await run(work, { file: work.python.path, args: ['-I', '-m', 'venv', work.folder], purpose: 'create the environment' })
}

/** Installs exactly the files that the requirements hash; reports each package as it is fetched. */
export async function installRequirements(work: EnvironmentWork, onPackage: (text: string) => void): Promise<void> {
  const total = countRequirements(await readRequirementsFile(work.requirementsFile))
  let seen = 0
  await run(work, {
    file: interpreterPath(work.folder),
    args: ['-I', '-m', 'pip', 'install', ...['--require-hashes', '--no-deps', '--no-input', '--disable-pip-version-check', '--progress-bar=off'], '-r', work.requirementsFile],
    purpose: `install ${work.requirementsFile}`,
    onLine: (line) => {
      const name = /^Collecting (\S+)/.exec(line)?.[1]
      if (name !== undefined) onPackage(`${name} (${++seen} of ${total})`)
      if (line.startsWith('Installing collected packages')) onPackage(`unpacking ${total} packages`)
    },
  })
}

/** Folder of the environment's packages, as its interpreter names it. */
export async function sitePackagesOf(work: EnvironmentWork): Promise<string> {
  const script = 'import sysconfig; print(sysconfig.get_path("purelib"))'
  return run(work, { file: interpreterPath(work.folder), args: ['-I', '-c', script], purpose: 'start the environment' })
}

interface Command {
  readonly file: string
  readonly args: readonly string[]
  /** Completes the sentence "Python could not …". */
  readonly purpose: string
  readonly onLine?: (line: string) => void
}

async function run(work: EnvironmentWork, { file, args, purpose, onLine }: Command): Promise<string> {
  const result = await execa(file, args, {
    env: pick(work.environment, [...interpreterNames, ...packageIndexNames]),
    extendEnv: false,
    reject: false,
    stdin: work.lock.input(),
    stdout: function* (line: unknown) {
      onLine?.(String(line))
      yield line
    },
    ...(work.signal === undefined ? {} : { cancelSignal: work.signal }),
  })
  if (!result.failed) return result.stdout
  const said = lastLines(result.stderr === '' ? result.stdout : result.stderr)
  throw new UpstreamError('install_failed', `Python could not ${purpose}; check the network and the package index, then start again. It said: ${said}`, result)
}

function lastLines(text: string): string {
  return text.trimEnd().split('\n').slice(-shownErrorLines).join('\n')
}
