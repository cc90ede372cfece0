import { setTimeout as delay } from 'node:timers/promises'
import type { RunningSandbox } from '../driver.ts'
import { LocalE2bError, describeError } from '../error.ts'
import { runBash } from '../sandboxes/run-bash.ts'
import type { BuildLog, BuildSpec, BuildState } from './build-spec.ts'
import { makeLayer } from './make-layer.ts'
import { runInGuest, startOn, type Workbench } from './workbench.ts'

export interface ReadyTiming {
  readonly intervalMs: number
  readonly limitMs: number
}

export const readyTiming: ReadyTiming = { intervalMs: 200, limitMs: 600_000 }

/** As E2B: files under /tmp do not last, the final user owns its home, and everybody may write to /usr/local. */
const tidyCommand = `set -eu
find /tmp -mindepth 1 -delete
if [ "$ACCOUNT" != root ]; then
  home=$(getent passwd -- "$ACCOUNT" | cut -d: -f6)
  [ ! -d "$home" ] || find "$home" -xdev ! -user "$ACCOUNT" -exec chown -h "$ACCOUNT:" {} +
  find /usr/local -xdev -type d ! -perm -0002 -exec chmod a+rwx {} +
fi`

/** The last layer, and a trial of start and ready command in a fresh sandbox as users will get it. */
export async function finalize(bench: Workbench, before: BuildState, trial: { readonly spec: BuildSpec; readonly log: BuildLog; readonly timing: ReadyTiming }): Promise<BuildState> {
  const { state } = await makeLayer(bench, before, {
    step: { type: 'FINALIZE', args: [tidyCommand], filesHash: null },
    network: 'loopback',
    forcedBy: undefined,
    work: async (sandbox) => {
      await runInGuest(bench, sandbox, { command: tidyCommand, user: 'root', cwd: '/', environment: { ACCOUNT: before.user } })
      return before
    },
  })
  if (trial.spec.startCommand !== null || trial.spec.readyCommand !== null) await tryCommands(bench, state, trial)
  return state
}

async function tryCommands(bench: Workbench, state: BuildState, trial: { readonly spec: BuildSpec; readonly log: BuildLog; readonly timing: ReadyTiming }): Promise<void> {
  const { spec, log, timing } = trial
  const sandbox = await startOn(bench, state, 'loopback')
  try {
    const failed = spec.startCommand === null ? never() : startFails(bench, sandbox, { command: spec.startCommand, log })
    if (spec.readyCommand === null) return
    log('finalize', `[finalize] waiting for ready command: ${spec.readyCommand}`)
    await Promise.race([untilReady(bench, sandbox, { command: spec.readyCommand, timing }), failed])
    log('finalize', '[finalize] template is ready')
  } finally {
    await sandbox.destroy()
  }
}

/** Rejects when the start command ends with a failure; one that ends well may have left daemons. */
function startFails(bench: Workbench, sandbox: RunningSandbox, { command, log }: { readonly command: string; readonly log: BuildLog }): Promise<never> {
  log('finalize', `[finalize] start command: ${command}`)
  const failed = new Promise<never>((_, reject) => {
    runInGuest(bench, sandbox, { command, onLine: (line) => log('finalize', line) }).catch((error: unknown) => {
      reject(new LocalE2bError('build_failed', `start command failed: ${describeError(error)}`, { cause: error }))
    })
  })
  // Once the trial is over, the end of the sandbox makes it fail with nobody listening.
  failed.catch(() => undefined)
  return failed
}

async function untilReady(bench: Workbench, sandbox: RunningSandbox, { command, timing }: { readonly command: string; readonly timing: ReadyTiming }): Promise<void> {
  const limit = AbortSignal.timeout(timing.limitMs)
  const signal = AbortSignal.any([limit, bench.signal])
  while (!(await isReady(sandbox, command, signal))) {
    if (limit.aborted) throw new LocalE2bError('build_failed', `the ready command '${command}' did not succeed within ${timing.limitMs / 1000} s`)
    bench.signal.throwIfAborted()
    await delay(timing.intervalMs)
  }
}

async function isReady(sandbox: RunningSandbox, command: string, signal: AbortSignal): Promise<boolean> {
  try {
    return (await runBash({ agentSocket: sandbox.agentSocket, command, signal })).exitCode === 0
  } catch (error) {
    if (signal.aborted) return false
    throw error
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined)
}
