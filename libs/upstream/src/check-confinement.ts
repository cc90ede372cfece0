import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { type Bubblewrap, namespaceArguments, sealArguments, systemArguments } from './confinement-arguments.ts'
import type { Environment } from './environment.ts'

/** Whether attempts can be confined here, or a sentence that says why not and what helps. */
export type ConfinementCheck =
  | { readonly kind: 'works'; readonly bubblewrap: Bubblewrap }
  | { readonly kind: 'refused'; readonly reason: string }

export interface CheckConfinementOptions {
  /** `PATH` says where `bwrap` is looked for. */
  readonly environment: Environment
}

const deadlineMs = 20_000

/** What bubblewrap says, and what its user can do about it; the first that fits counts. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [/max_\S*namespaces|ENOSPC/, 'raise user.max_user_namespaces with sysctl'],
  [/mount proc|\/proc\b/, 'a container hides /proc from it; start the container with its system paths unmasked (such as --security-opt systempaths=unconfined)'],
  [
    /permission|permitted|uid map|namespace/i,
    'allow user namespaces: as root set kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0 with sysctl, whichever exists; a container needs --security-opt seccomp=unconfined',
  ],
]

/** Runs a program in the same namespaces that attempts get. */
export async function checkConfinement({ environment }: CheckConfinementOptions): Promise<ConfinementCheck> {
  const path = await findProgram('bwrap', environment['PATH'] ?? '')
  if (path === undefined) return { kind: 'refused', reason: 'bubblewrap is not installed; install it (on Debian and Ubuntu: apt-get install bubblewrap).' }
  const strict = { path, disablesUserNamespaces: true }
  if ((await probe(strict)) === undefined) return { kind: 'works', bubblewrap: strict }
  const lenient = { path, disablesUserNamespaces: false }
  const problem = await probe(lenient)
  if (problem === undefined) return { kind: 'works', bubblewrap: lenient }
  return { kind: 'refused', reason: `${path} does not work here (${problem}); ${remedyFor(problem)}.` }
}

/** Nothing when it worked, else what was said. */
async function probe(bubblewrap: Bubblewrap): Promise<string | undefined> {
  const args = [...namespaceArguments(bubblewrap), ...systemArguments(bubblewrap), ...sealArguments(), '--clearenv', '--', '/usr/bin/true']
  const result = await execa(bubblewrap.path, args, { env: {}, extendEnv: false, cwd: '/', reject: false, stdin: 'ignore', timeout: deadlineMs })
  if (!result.failed) return undefined
  return result.stderr.trim().replace(/\s+/g, ' ') || result.shortMessage
}

function remedyFor(problem: string): string {
  return remedies.find(([pattern]) => pattern.test(problem))?.[1] ?? 'try it by hand and see its manual'
}

async function findProgram(name: string, searchPath: string): Promise<string | undefined> {
  for (const folder of searchPath.split(':').filter((entry) => entry.startsWith('/'))) {
    const path = join(folder, name)
    if (await isExecutable(path)) return path
  }
  return undefined
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && ['ENOENT', 'ENOTDIR', 'EACCES'].includes(String(error.code))) return false
    throw error
  }
}
