import { lstat, realpath, rename, rm } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { execa } from 'execa'
import { LocalE2bError } from '../error.ts'
import { hostEnvironment } from '../namespace/host-environment.ts'
import { findSpareRange, manageIdMap, type Account } from '../namespace/id-map.ts'
import { runCommand } from '../namespace/run-command.ts'
import { readOptional } from '../namespace/runtime-folder.ts'
import { openUserNamespace } from '../namespace/user-namespace.ts'
import { hasSystemCode } from '../store/read-file.ts'

export interface FolderCareOptions {
  /** Absolute; nothing outside of it is removed. */
  readonly dataFolder: string
  readonly account: Account
  /** Of the caller; the programs that are called see only what `host-environment.ts` names of it. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Measures and removes folders whose files belong to guest accounts. */
export interface FolderCare {
  /** Bytes on disk of each path that could be measured within the time; links are not followed. */
  measure(paths: readonly string[], deadlineMs?: number): Promise<ReadonlyMap<string, number>>
  /** Removes one path of the data folder, which is then known by no name that counts as whole. Absent is removed. */
  remove(path: string): Promise<void>
  close(): Promise<void>
}

/** Root may touch every file itself; other accounts do it as id 0 of a user namespace that maps the guests' ids. */
export async function openFolderCare({ dataFolder, account, environment }: FolderCareOptions): Promise<FolderCare> {
  const facts = { account, rootShift: 0, subuidText: await readOptional('/etc/subuid'), subgidText: await readOptional('/etc/subgid') }
  const isMapped = account.uid !== 0 && findSpareRange(facts.subuidText, account) !== undefined && findSpareRange(facts.subgidText, account) !== undefined
  const place = { cwd: '/', environment: hostEnvironment(environment) }
  const namespace = isMapped ? await openUserNamespace({ map: manageIdMap(facts), asRoot: false, ...place }) : undefined
  const enter = namespace?.enter ?? []
  return {
    measure: (paths, deadlineMs) => measure([...enter, 'du'], paths, { ...place, deadlineMs }),
    remove: async (path) => {
      const aside = await setAside(dataFolder, path)
      if (aside !== undefined) await runCommand({ command: [...enter, 'rm', '-rf', '--one-file-system', '--', aside], ...place, failure: 'close_incomplete' })
    },
    close: async () => namespace?.close(),
  }
}

interface MeasurePlace {
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly deadlineMs: number | undefined
}

async function measure(command: readonly string[], paths: readonly string[], { cwd, environment, deadlineMs }: MeasurePlace): Promise<ReadonlyMap<string, number>> {
  if (paths.length === 0) return new Map()
  const [file = '', ...enter] = command
  const result = await execa(file, [...enter, '--summarize', '--block-size=1', '--one-file-system', '--null', '--files0-from=-'], {
    cwd,
    env: environment,
    extendEnv: false,
    // What vanished meanwhile or took too long is missing in the answer.
    reject: false,
    input: paths.join('\0'),
    ...(deadlineMs === undefined ? {} : { timeout: deadlineMs }),
  })
  const lines = result.stdout.split('\0').slice(0, -1).map((line) => line.split('\t'))
  return new Map(lines.map(([bytes, path]) => [path ?? '', Number(bytes)]))
}

/** A folder gets the name of a half-made one first, so that one whose removal is broken off is never taken for whole. */
async function setAside(dataFolder: string, path: string): Promise<string | undefined> {
  await refuseOutside(dataFolder, path)
  try {
    if (!(await lstat(path)).isDirectory()) {
      await rm(path, { force: true })
      return undefined
    }
    if (path.endsWith('.partial')) return path
    const aside = `${path}.partial`
    await rename(path, aside)
    return aside
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Neither a path that leads out of the data folder, nor one that a link leads out of it. */
async function refuseOutside(dataFolder: string, path: string): Promise<void> {
  const inside = relative(dataFolder, path)
  const isInside = inside !== '' && !inside.startsWith('..') && !isAbsolute(inside)
  const isReal = isInside && join(await realpath(dirname(path)), basename(path)) === join(await realpath(dataFolder), inside)
  if (!isReal) throw new LocalE2bError('data_folder_invalid', `${path} is not inside ${dataFolder}, so it is not removed.`)
}
