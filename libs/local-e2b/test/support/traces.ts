import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { HostedDriver } from './hosted-driver.ts'

/** What a driver's sandboxes hold of this machine. */
export interface Traces {
  readonly processes: number
  readonly networks: number
  readonly mounts: number
  readonly sockets: number
  readonly folders: number
}

/** User namespaces of the driver's two holders; every process of its sandboxes is in one of them. */
export function userNamespaces(driver: HostedDriver): ReadonlySet<string> {
  const children = processIds().filter((pid) => parentOf(pid) === driver.process.pid)
  return new Set(children.map((pid) => namespaceOf(pid, 'user')).filter((name) => name !== ''))
}

export function traces(driver: HostedDriver, namespaces: ReadonlySet<string>): Traces {
  const inside = processIds().filter((pid) => namespaces.has(namespaceOf(pid, 'user')))
  return {
    processes: inside.length,
    networks: new Set(inside.map((pid) => namespaceOf(pid, 'net'))).size,
    mounts: countLines('/proc/self/mountinfo', driver.dataFolder),
    sockets: countLines('/proc/net/unix', driver.dataFolder),
    folders: readdirSync(join(driver.dataFolder, 'sandboxes')).length,
  }
}

export function processIds(): readonly number[] {
  return readdirSync('/proc').map(Number).filter((pid) => pid > 0)
}

/** Name of a namespace, empty when the process is gone. */
export function namespaceOf(pid: number, kind: 'user' | 'net'): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/${kind}`)
  } catch {
    return ''
  }
}

function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return 0
  }
}

function countLines(file: string, part: string): number {
  return readFileSync(file, 'utf8').split('\n').filter((line) => line.includes(part)).length
}
