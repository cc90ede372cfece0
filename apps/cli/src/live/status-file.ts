import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { RunStatus } from '@osworld-e2b/contracts'
import { prettyJson } from '@osworld-e2b/inventory'

export interface StatusFileOptions {
  readonly runFolder: string
  /** What is true now. */
  readonly document: () => RunStatus
  /** Told once when the file cannot be written, and again only after it could be. */
  readonly onProblem: (sentence: string) => void
  /** At most one write in so long; a second unless given. */
  readonly everyMs?: number
}

export interface StatusFile {
  /** Something happened that the file does not say yet. */
  changed(): void
  /** Writes the last word, and no more after it. */
  finish(): Promise<void>
  /** Resolves once nothing writes any more. */
  dispose(): Promise<void>
}

/** Without news it is written ten times more seldom, so that its age tells whether somebody still writes it. */
const idleFactor = 10

/**
 * Keeps `status.json` in the run folder up to date. A reader sees a whole file, the old one or the new one; it is not forced to disk, since
 * it proves nothing. That it cannot be written is told and never thrown: the run goes on.
 */
export function keepStatusFile({ runFolder, document, onProblem, everyMs = 1_000 }: StatusFileOptions): StatusFile {
  const path = statusPath(runFolder)
  let hasNews = true
  let idleTicks = 0
  let isFailing = false
  let writing: Promise<void> | undefined
  const write = async (): Promise<void> => {
    hasNews = false
    idleTicks = 0
    const problem = await replace(path, prettyJson(document()))
    if (problem !== undefined && !isFailing) onProblem(`${path} cannot be written (${problem}), so \`osworld status\` shows an old state; the run goes on, its ledger is another file.`)
    isFailing = problem !== undefined
  }
  const start = () => {
    writing = write().finally(() => (writing = undefined))
  }
  const tick = setInterval(() => {
    idleTicks += 1
    if (writing === undefined && (hasNews || idleTicks >= idleFactor)) start()
  }, everyMs)
  tick.unref()
  start()
  return {
    changed: () => {
      hasNews = true
    },
    finish: async () => {
      clearInterval(tick)
      await writing
      await write()
    },
    dispose: async () => {
      clearInterval(tick)
      await writing
    },
  }
}

export function statusPath(runFolder: string): string {
  return join(runFolder, 'status.json')
}

/** Why it could not be replaced; undefined when it was. */
async function replace(path: string, text: string): Promise<string | undefined> {
  // One owner writes, so one name does, and a crash leaves at most one file behind.
  const draft = join(dirname(path), '.status.json.tmp')
  try {
    await writeFile(draft, text)
    await rename(draft, path)
    return undefined
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined)
    return error instanceof Error ? error.message : String(error)
  }
}
