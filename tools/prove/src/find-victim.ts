import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Moment } from './kill-moment.ts'
import type { Victim } from './kill-table.ts'
import { childrenOf, descendantsOf, namespacePids, openFilesOf, type ProcessEntry, readProcess, readProcesses, workingFolderOf } from './process-tree.ts'

export interface Search {
  /** Pid of the coordinator: whoever is not below it is no victim. */
  readonly coordinator: number
  /** Absolute, without links. */
  readonly runFolder: string
  readonly moment: Moment
}

/** The victim as it is now; undefined while it does not exist. */
export async function findVictim(victim: Victim, search: Search): Promise<ProcessEntry | undefined> {
  // Straight to it: the run's end, for one, is over in some milliseconds.
  if (victim === 'coordinator') return readProcess(search.coordinator)
  const processes = await readProcesses()
  switch (victim) {
    case 'server':
      return serverOf(search, processes)
    case 'relay':
      return findRelay(search, processes)
    case 'bwrap':
      return bwrapOf(search, processes)
    case 'attempt':
      return findAttempt(search, processes)
    case 'sandbox':
      return findSandbox(search, processes)
  }
}

function programOf({ args }: ProcessEntry): string {
  // `apps/<project>/dist/main.js` names the project.
  const main = args.find((argument) => basename(argument) === 'main.js') ?? ''
  return basename(dirname(dirname(main)))
}

function serverOf({ coordinator }: Search, processes: readonly ProcessEntry[]): ProcessEntry | undefined {
  return childrenOf(coordinator, processes).find((entry) => programOf(entry) === 'local-e2b-bin')
}

/** The one that writes into the attempt's folder; before it was told what its folder is, any that was told of none. */
async function findRelay({ coordinator, runFolder, moment }: Search, processes: readonly ProcessEntry[]): Promise<ProcessEntry | undefined> {
  const relays = childrenOf(coordinator, processes).filter((entry) => programOf(entry) === 'relay-bin')
  const attempts = join(runFolder, 'attempts')
  let fresh: ProcessEntry | undefined
  for (const relay of relays) {
    const files = await openFilesOf(relay.pid)
    if (files.some((file) => dirname(file) === join(runFolder, moment.attemptDir ?? ''))) return relay
    if (!files.some((file) => file.startsWith(attempts))) fresh ??= relay
  }
  return fresh
}

function bwrapOf({ coordinator, runFolder, moment }: Search, processes: readonly ProcessEntry[]): ProcessEntry | undefined {
  const folder = join(runFolder, moment.attemptDir ?? '')
  return childrenOf(coordinator, processes).find(({ args }) => basename(args[0] ?? '') === 'bwrap' && args.includes(folder))
}

/** The interpreter itself, not the first process of its namespace, which is bubblewrap's own. */
function findAttempt(search: Search, processes: readonly ProcessEntry[]): ProcessEntry | undefined {
  const bwrap = bwrapOf(search, processes)
  if (bwrap === undefined) return undefined
  return descendantsOf(bwrap.pid, processes).find(({ args }) => args[1] === '-m' && args[2] === 'osworld_adapter')
}

/** The first process of the pid namespace of the attempt's latest sandbox. */
async function findSandbox(search: Search, processes: readonly ProcessEntry[]): Promise<ProcessEntry | undefined> {
  const server = serverOf(search, processes)
  const sandboxId = await sandboxIdOf(join(search.runFolder, search.moment.attemptDir ?? ''))
  if (server === undefined || sandboxId === undefined) return undefined
  for (const starter of descendantsOf(server.pid, processes)) {
    if (basename(await workingFolderOf(starter.pid)) !== sandboxId) continue
    for (const child of childrenOf(starter.pid, processes)) {
      const pids = await namespacePids(child.pid)
      if (pids.length > 1 && pids.at(-1) === 1) return child
    }
  }
  return undefined
}

async function sandboxIdOf(attemptFolder: string): Promise<string | undefined> {
  const text = await readFile(join(attemptFolder, 'relay-events.jsonl'), 'utf8').catch(() => '')
  return [...text.matchAll(/"SANDBOX_CREATED".*?"sandbox_id":"([^"]+)"/g)].at(-1)?.[1]
}
