import path from 'node:path'
import type { RunningSandbox } from '../driver.ts'
import { LocalE2bError, describeError } from '../error.ts'
import type { BuildState, BuildStep } from './build-spec.ts'
import { copyCommand, makeFolderFunction, withLoginGroup } from './copy-script.ts'
import { environmentPairs, expansionCommand, needsExpansion } from './environment.ts'
import { runInGuest, uploadToGuest, type Workbench } from './workbench.ts'

export type Settings = Pick<BuildState, 'user' | 'workdir' | 'environment'>

export interface StepRun {
  readonly bench: Workbench
  readonly sandbox: RunningSandbox
  readonly state: BuildState
  readonly onLine: (line: string) => void
}

/** Runs one step in its sandbox and returns the settings that hold after it; throws `build_failed`. */
export async function runStep(step: BuildStep, run: StepRun): Promise<Settings> {
  const [first = '', second = ''] = step.args
  const { user, workdir, environment } = run.state
  const settings: Settings = { user, workdir, environment }
  switch (step.type) {
    case 'RUN':
      await runUserCommand(first, second === '' ? user : second, run)
      return settings
    case 'COPY':
      await copyFiles(step, run)
      return settings
    case 'WORKDIR':
      return { ...settings, workdir: await makeWorkdir(first, run) }
    case 'USER':
      await checkUser(first, run)
      return { ...settings, user: first }
    case 'ENV':
      return { ...settings, environment: await expandEnvironment(step.args, run) }
  }
}

async function runUserCommand(command: string, user: string, { bench, sandbox, state, onLine }: StepRun): Promise<void> {
  try {
    await runInGuest(bench, sandbox, { command, user, cwd: state.workdir, environment: state.environment, onLine })
  } catch (error) {
    if (!(error instanceof LocalE2bError)) throw error
    throw new LocalE2bError('build_failed', `failed to run command '${command}': ${error.message}`, { cause: error })
  }
}

async function copyFiles(step: BuildStep, run: StepRun): Promise<void> {
  const [source = '', destination = '', owner = '', mode = ''] = step.args
  const stage = `/var/tmp/.copy-${run.sandbox.id}`
  const copy = copyCommand({ source, destination, owner: owner === '' ? run.state.user : owner, mode, workdir: run.state.workdir, stage })
  try {
    await uploadToGuest(run.bench, run.sandbox, { hash: step.filesHash ?? '', path: `${stage}/archive` })
    await runAsRoot(run, copy)
  } catch (error) {
    if (!(error instanceof LocalE2bError)) throw error
    throw new LocalE2bError('build_failed', `failed to copy '${source}' to '${destination}': ${error.message}`, { cause: error })
  }
}

async function makeWorkdir(folder: string, run: StepRun): Promise<string> {
  const workdir = path.posix.resolve(run.state.workdir, folder)
  const environment = { FOLDER: workdir, OWNER: withLoginGroup(run.state.user) }
  await runAsRoot(run, { command: `set -euo pipefail\n${makeFolderFunction}\nmake_folder "$FOLDER"`, environment })
  return workdir
}

async function checkUser(user: string, run: StepRun): Promise<void> {
  try {
    await runAsRoot(run, { command: 'id -u -- "$ACCOUNT"', environment: { ACCOUNT: user } })
  } catch (error) {
    if (!(error instanceof LocalE2bError)) throw error
    throw new LocalE2bError('build_failed', `invalid username: '${user}' (${describeError(error)})`, { cause: error })
  }
}

async function expandEnvironment(args: readonly string[], run: StepRun): Promise<Readonly<Record<string, string>>> {
  const { bench, sandbox, state } = run
  const environment: Record<string, string> = { ...state.environment }
  for (const [name, value] of environmentPairs(args)) {
    const command = expansionCommand(value)
    environment[name] = needsExpansion(value)
      ? await runInGuest(bench, sandbox, { command, user: state.user, cwd: '/', environment: { ...environment } })
      : value
  }
  return environment
}

function runAsRoot(run: StepRun, { command, environment }: { readonly command: string; readonly environment: Readonly<Record<string, string>> }): Promise<string> {
  return runInGuest(run.bench, run.sandbox, { command, user: 'root', cwd: '/', environment, onLine: run.onLine })
}
