import { hostname } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { AttemptConfig, Connection } from '@osworld-e2b/contracts'
import type { Redactor } from '@osworld-e2b/redaction'
import { connectSandboxes, type Sandboxes } from '@osworld-e2b/sandbox'
import { writeJsonAtomic } from '@osworld-e2b/inventory'
import { attemptProcesses, type AttemptProcesses, type CampaignServices, type OwnedSandbox, type Room, systemClock } from '@osworld-e2b/scheduler'
import { type Bubblewrap, confineAttempt, type ConfineAttemptOptions } from '@osworld-e2b/upstream'
import type { Profile } from '../commands/setup.ts'
import { workspace } from '../workspace.ts'
import type { Place } from './free-space.ts'
import type { Model } from './model.ts'
import { problemsOf } from './problems.ts'
import type { secretPlaces } from './secret-places.ts'

/** All that a Node child of ours gets from this process's environment. */
const childVariables = ['PATH', 'LANG', 'TZ', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'] as const

export function childEnvironment(environment: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(childVariables.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])))
}

export interface ServicesInput {
  readonly bubblewrap: Bubblewrap
  readonly runFolder: string
  readonly temporaryFolder: string
  readonly profile: Profile
  readonly connection: Connection
  readonly environment: NodeJS.ProcessEnv
  /** Absent for an agent that asks none. */
  readonly model: Model | undefined
  /** Marks every sandbox of the run. */
  readonly runMetadata: Readonly<Record<string, string>>
  readonly room: Room
  readonly redactor: Redactor
  readonly planAttempt: AttemptProcesses['planAttempt']
  /** Where this run writes. */
  readonly places: readonly Pick<Place, 'what' | 'folder'>[]
  /** Where attempts see the secret files. */
  readonly secrets: ReturnType<typeof secretPlaces>
  /** Why the code that scores is not what the run was made with any more. */
  readonly scorerDrift: () => Promise<string | undefined>
  readonly onEvent: CampaignServices['onEvent']
}

/** Wires the scheduler to this machine: which processes an attempt is made of, and how its sandboxes are found again. */
export function campaignServices(input: ServicesInput): CampaignServices {
  const { runFolder, temporaryFolder, connection, model, onEvent, room } = input
  const sandboxes = connectSandboxes(connection)
  // A run folder in a place that every attempt sees is refused now, not by each attempt.
  confineAttempt({ ...confinement(input), attemptFolder: join(runFolder, 'attempts', 'domain', 'task', '1.1'), controlSocket: join(temporaryFolder, 'control.sock') })
  return {
    ...attemptProcesses({
      ...attemptCommands(input),
      runFolder,
      room,
      redactor: input.redactor,
      temporaryFolder,
      planAttempt: input.planAttempt,
      scorerDrift: input.scorerDrift,
      ...(model === undefined ? {} : { openModel: ({ attempt_dir: folder }: AttemptConfig) => model.open(folder) }),
      killSandboxes: async (metadata) => {
        const { found, killed, remaining } = await sandboxes.killMatching(metadata)
        return { found: found.length, killed: killed.length, remaining: remaining.length }
      },
      monotonicMs: () => performance.now(),
    }),
    clock: systemClock,
    room,
    listSandboxes: () => listOwned(sandboxes, input.runMetadata),
    killSandbox: (id) => sandboxes.kill(id),
    problems: () => problemsOf(input.places, model?.gateway),
    ...(model === undefined ? {} : { modelPermits: () => model.permits, modelUsage: (identity) => model.usage(runFolder, identity) }),
    writeAggregate: (aggregate) => writeJsonAtomic(join(runFolder, 'aggregate.json'), aggregate),
    onEvent,
    owner: { pid: process.pid, host: hostname() },
  }
}

async function listOwned(sandboxes: Sandboxes, metadata: Readonly<Record<string, string>>): Promise<readonly OwnedSandbox[]> {
  try {
    return (await sandboxes.list(metadata)).map(({ id, metadata: { attempt } }) => ({ id, attempt }))
  } catch (error) {
    throw new Error(sandboxes.explain(error), { cause: error })
  }
}

function attemptCommands(input: ServicesInput): Pick<AttemptProcesses, 'relayCommand' | 'attemptCommand'> {
  const { environment, secrets } = input
  return {
    relayCommand: { file: process.execPath, args: [workspace.relayMain], environment: childEnvironment(environment), cwd: workspace.root },
    attemptCommand: (config, controlSocket, modelEnvironment) =>
      confineAttempt({
        ...confinement(input),
        args: ['-m', 'osworld_adapter', '--config', join(config.attempt_dir, 'attempt.json')],
        environment: { ...attemptEnvironment, OSWORLD_CONTROL_SOCKET: controlSocket },
        secretEnvironment: modelEnvironment,
        attemptFolder: config.attempt_dir,
        controlSocket,
        readOnlyPaths: shownPaths(config),
        renamedPaths: shownSecrets(config, secrets),
      }),
  }
}

const attemptEnvironment = { PYTHONPATH: workspace.adapterSource, PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' } as const

function confinement({ bubblewrap, profile, runFolder }: ServicesInput): Omit<ConfineAttemptOptions, 'attemptFolder' | 'controlSocket'> {
  return {
    bubblewrap,
    python: profile.environment,
    args: [],
    environment: attemptEnvironment,
    adapterFolder: workspace.adapterSource,
    profileFolder: profile.folder,
    runFolder,
  }
}

/** What an attempt needs to see besides what all attempts do. */
function shownPaths({ agent, assets }: AttemptConfig): string[] {
  const source = agent.kind === 'upstream_runner' ? agent.checkout : agent.kind === 'module' ? agent.folder : undefined
  return [source, assets?.folder].filter((path) => path !== undefined)
}

/** The secret files that this attempt was told of. */
function shownSecrets({ proxy_file: proxies, secret_mounts: mounts = [], settings_dir: settings }: AttemptConfig, places: ReturnType<typeof secretPlaces>): ReturnType<typeof secretPlaces> {
  const told = [proxies, settings, ...mounts.map(({ local }) => local)]
  return places.filter(({ to }) => told.includes(to))
}
