import { isAbsolute, join, normalize, relative } from 'node:path'
import { type Bubblewrap, namespaceArguments, sealArguments, systemArguments } from './confinement-arguments.ts'
import { type AttemptLimits, defaultLimits, sealCommand } from './confinement-limits.ts'
import { UpstreamError } from './upstream-error.ts'

/** What one attempt may see; every path is absolute with its links resolved, and the same inside as outside. */
export interface ConfineAttemptOptions {
  readonly bubblewrap: Bubblewrap
  readonly python: { readonly python: string; readonly folder: string; readonly basePrefix: string }
  /** What the interpreter is given. */
  readonly args: readonly string[]
  /** All that the attempt gets besides `HOME`, `PATH`, `LANG`, `TMPDIR` and `PWD`. Shown in the process list, so nothing secret. */
  readonly environment: Readonly<Record<string, string>>
  /** More of it, handed on by inheritance, so that the process list does not show it. */
  readonly secretEnvironment?: Readonly<Record<string, string>>
  readonly adapterFolder: string
  readonly profileFolder: string
  readonly runFolder: string
  /** `attempts/<domain>/<task-id>/<trial>.<attempt>` of the run folder: the only place where the attempt writes. */
  readonly attemptFolder: string
  readonly controlSocket: string
  /** Files or folders that are seen under another path, so that no record of the attempt tells where they lie. */
  readonly renamedPaths?: readonly { readonly from: string; readonly to: string }[]
  /** Further files or folders to see, such as a certificate bundle. */
  readonly readOnlyPaths?: readonly string[]
  /** Defaults for what is left out. */
  readonly limits?: Partial<AttemptLimits>
}

export interface ConfinedCommand {
  readonly file: string
  readonly args: readonly string[]
  /** All of bubblewrap's environment; it hands it on to the attempt. */
  readonly environment: Readonly<Record<string, string>>
  readonly cwd: string
}

/** What the coordinator writes into the attempt's folder; the attempt can neither change nor replace what is there when it starts. */
const coordinatorFiles = ['attempt.json', 'task.json', 'stdout.log', 'stderr.log', 'relay.stderr.log', 'model-calls.jsonl']

/** The command that runs an attempt in its own namespaces. Throws when a path would show it another attempt or the ledger. */
export function confineAttempt(options: ConfineAttemptOptions): ConfinedCommand {
  const readOnly = readOnlyPaths(options)
  refuseExposure(options, [...readOnly, ...(options.renamedPaths ?? []).flatMap(({ from, to }) => [from, to])])
  const { attemptFolder, controlSocket, bubblewrap, python, secretEnvironment = {} } = options
  const limits = { ...defaultLimits, ...options.limits }
  const args = [
    ...namespaceArguments(bubblewrap),
    ...systemArguments(bubblewrap, limits),
    ...readOnly.flatMap((path) => ['--ro-bind', path, path]),
    ...(options.renamedPaths ?? []).flatMap(({ from, to }) => ['--ro-bind', from, to]),
    ...['--bind', attemptFolder, attemptFolder],
    ...coordinatorFiles.map((name) => join(attemptFolder, name)).flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--bind', controlSocket, controlSocket],
    ...sealArguments(),
    ...['--chdir', attemptFolder],
    ...(Object.keys(secretEnvironment).length === 0 ? ['--clearenv'] : []),
    ...Object.entries(environmentInside(options)).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--', ...sealCommand(python.python, limits), python.python, ...options.args],
  ]
  return { file: bubblewrap.path, args, environment: secretEnvironment, cwd: '/' }
}

/** Outer folders first, since a later bind covers what was bound below it. */
function readOnlyPaths({ python, adapterFolder, profileFolder, readOnlyPaths: more = [] }: ConfineAttemptOptions): string[] {
  const paths = [python.basePrefix, python.folder, adapterFolder, profileFolder, ...more]
  return [...new Set(paths)].sort((left, right) => left.length - right.length)
}

function environmentInside({ environment, python, attemptFolder }: ConfineAttemptOptions): Record<string, string> {
  const own = { HOME: attemptFolder, PATH: `${join(python.folder, 'bin')}:/usr/bin:/bin`, LANG: 'C.UTF-8', TMPDIR: '/tmp' }
  return { ...environment, ...own }
}

function refuseExposure({ runFolder, attemptFolder, controlSocket }: ConfineAttemptOptions, readOnly: readonly string[]): void {
  for (const path of [runFolder, attemptFolder, controlSocket, ...readOnly]) {
    if (!isAbsolute(path) || normalize(path) !== path || (path.endsWith('/') && path !== '/')) throw unsafe(`${path} must be an absolute path in its shortest form`)
  }
  if (!/^attempts\/[^/]+\/[^/]+\/[^/]+$/.test(relative(runFolder, attemptFolder))) {
    throw unsafe(`${attemptFolder} must be attempts/<domain>/<task-id>/<trial>.<attempt> of the run folder ${runFolder}`)
  }
  for (const path of ['/usr', ...readOnly]) {
    if (isWithin(runFolder, path)) throw unsafe(`${path} holds the run folder ${runFolder}; keep runs outside of it`)
    if (isWithin(path, runFolder) && !isWithin(path, attemptFolder)) throw unsafe(`${path} belongs to the run, not to the attempt; keep it outside the run folder`)
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
}

function unsafe(problem: string): UpstreamError {
  return new UpstreamError('confinement_unsafe', `The attempt cannot be confined: ${problem}.`)
}
