import { readdir, readFile, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { dataFolder, eventually } from './osworld.ts'

/** Everything a run could leave on the machine: one text an item. */
async function items(): Promise<ReadonlySet<string>> {
  const parts = await Promise.all([processes(), mounts(), listeners(), sandboxFolders()])
  return new Set(parts.flat())
}

export interface Residue {
  /** Fails, naming what is left, when anything that was not there before is still there after five seconds. */
  expectNone(): Promise<void>
}

/** Remembers what is there before a run. */
export async function beforeRun(): Promise<Residue> {
  const before = await items()
  let left: readonly string[] = []
  return {
    expectNone: async () => {
      await eventually(() => `nothing left over, but there are:\n${left.join('\n')}`, 5_000, async () => {
        left = [...(await items())].filter((item) => !before.has(item))
        return left.length === 0 ? true : undefined
      })
    },
  }
}

const ours = /(apps\/(cli|relay-bin|local-e2b-bin)\/dist\/main\.js|bwrap|osworld_adapter|guest-agent)/

/** Processes of ours by command line, and any process (and so any namespace) that is not in this process's namespaces. */
async function processes(): Promise<readonly string[]> {
  const own = await namespaces('self')
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ').trim()
      const theirs = await namespaces(pid)
      const isElsewhere = theirs.some((namespace, index) => namespace !== '' && namespace !== own[index])
      return isElsewhere || ours.test(command) ? [`process ${pid} in ${theirs.join(' ')}: ${command}`] : []
    }),
  )
  return found.flat()
}

function namespaces(pid: string): Promise<readonly string[]> {
  return Promise.all(['pid', 'net', 'user', 'mnt'].map((kind) => readlink(`/proc/${pid}/ns/${kind}`).catch(() => '')))
}

async function mounts(): Promise<readonly string[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8')
  return table.split('\n').filter(Boolean).map((line) => `mount ${line}`)
}

async function listeners(): Promise<readonly string[]> {
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')))
  const rows = tables.flatMap((table) => table.split('\n').slice(1)).map((row) => row.trim().split(/\s+/))
  // Field 1 is the local address, field 3 the state; 0A is LISTEN (proc(5)).
  return rows.filter((fields) => fields[3] === '0A').map((fields) => `listener ${fields[1] ?? ''}`)
}

async function sandboxFolders(): Promise<readonly string[]> {
  const names = await readdir(join(dataFolder, 'sandboxes')).catch(() => [])
  return names.map((name) => `sandbox folder ${name}`)
}
