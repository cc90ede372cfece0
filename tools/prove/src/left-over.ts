import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { descendantsOf, type ProcessEntry, readProcesses } from './process-tree.ts'

export interface LeftOverPlaces {
  /** Of the local server. */
  readonly dataFolder: string
  /** Where coordinators make folders for the time of their run. */
  readonly temporaryFolder: string
  /** How long what is about to end may take. */
  readonly patienceMs: number
}

export interface LeftOverWatch {
  /** Begins to remember everything that a coordinator starts; call the result once it has ended. */
  follow(coordinator: number): () => Promise<void>
  /** What is still there of it after the patience, one text each; `files` looks at folders that a next start sweeps, too. */
  leftOver(kind: 'living' | 'files'): Promise<readonly string[]>
}

const lookEveryMs = 200

/** Remembers mounts and folders of before, so that only what came since counts. */
export async function watchLeftOver(places: LeftOverPlaces): Promise<LeftOverWatch> {
  const before = new Set([...(await standing(places)), ...(await temporaries(places))])
  const seen = new Map<string, ProcessEntry>()
  const look = async (coordinator: number) => {
    for (const entry of descendantsOf(coordinator, await readProcesses())) seen.set(identity(entry), entry)
  }
  const still = async (kind: 'living' | 'files') => {
    const alive = (await readProcesses()).filter((entry) => seen.has(identity(entry))).map(({ pid, args }) => `process ${pid}: ${args.join(' ').slice(0, 200)}`)
    const items = [...(await standing(places)), ...(kind === 'files' ? await temporaries(places) : [])]
    return [...alive, ...items.filter((item) => !before.has(item))]
  }
  return {
    follow: (coordinator) => follow(() => look(coordinator)),
    leftOver: async (kind) => {
      const endMs = performance.now() + places.patienceMs
      for (;;) {
        const left = await still(kind)
        if (left.length === 0 || performance.now() > endMs) return left
        await wait(lookEveryMs)
      }
    },
  }
}

function follow(look: () => Promise<void>): () => Promise<void> {
  const over = new AbortController()
  const following = (async () => {
    while (!over.signal.aborted) {
      await look()
      await wait(lookEveryMs, undefined, { signal: over.signal }).catch(() => undefined)
    }
  })()
  return async () => {
    over.abort()
    await following
  }
}

/** Needs nobody to come after it: sandboxes and their mounts. */
async function standing({ dataFolder }: LeftOverPlaces): Promise<readonly string[]> {
  const sandboxes = await readdir(join(dataFolder, 'sandboxes')).catch(() => [])
  const mounts = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').filter((line) => line.includes(dataFolder))
  return [...sandboxes.map((name) => `sandbox folder ${name}`), ...mounts.map((line) => `mount ${line}`)]
}

async function temporaries({ temporaryFolder }: LeftOverPlaces): Promise<readonly string[]> {
  return (await readdir(temporaryFolder)).filter((name) => name.startsWith('osworld-run-')).map((name) => `temporary folder ${name}`)
}

function identity({ pid, start }: ProcessEntry): string {
  return `${pid} ${start}`
}
