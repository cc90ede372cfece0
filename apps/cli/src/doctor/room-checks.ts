import { statfs } from 'node:fs/promises'
import type { DoctorCheck } from '@osworld-e2b/contracts'
import { bytesText } from '../clean/bytes-text.ts'
import { capacity, type Machine } from '../run/capacity.ts'
import { leastRunBytes, leastSandboxBytes, nearestFolder } from '../run/free-space.ts'
import { required } from './check.ts'

const gib = 2 ** 30
/** A desktop with nothing open and the processes of its attempt. */
const leastMemory = gib

export function machineCheck(machine: Machine): DoctorCheck {
  const { cores, availableBytes } = machine
  const count = capacity(machine)
  const found = `${cores} ${cores === 1 ? 'core' : 'cores'}, ${bytesText(availableBytes)} free: ${count} ${count === 1 ? 'environment' : 'environments'} at a time at full speed`
  return required({ need: 'cores and memory', found }, availableBytes < leastMemory ? 'Close other programs, or use a machine with more memory: one environment needs at least 1 GiB.' : undefined)
}

export interface Room {
  readonly need: string
  readonly folder: string
  readonly leastBytes: number
}

/** What the first run still has to make there, and what each of `count` sandboxes may write. */
export function dataFolderRoom(folder: string, made: { readonly isTemplateBuilt: boolean; readonly count: number }): Room {
  return { need: 'disk for sandboxes', folder, leastBytes: (made.isTemplateBuilt ? 0 : 4 * gib) + made.count * leastSandboxBytes }
}

export function pythonRoom(folder: string, isEnvironmentMade: boolean): Room {
  return { need: 'disk for the Python environment', folder, leastBytes: isEnvironmentMade ? 0 : gib }
}

export function resultsRoom(folder: string): Room {
  return { need: 'disk for results', folder, leastBytes: leastRunBytes }
}

export async function roomCheck({ need, folder, leastBytes }: Room): Promise<DoctorCheck> {
  const { bavail, bsize } = await statfs(await nearestFolder(folder))
  return roomLine({ need, folder, leastBytes }, bavail * bsize)
}

export function roomLine({ need, folder, leastBytes }: Room, freeBytes: number): DoctorCheck {
  const found = `${bytesText(freeBytes)} free at ${folder}${leastBytes === 0 ? '' : `, ${bytesText(leastBytes)} needed`}`
  return required({ need, found }, freeBytes < leastBytes ? 'Free some disk space there, such as by `osworld clean`, or name another place (--data, --results, XDG_CACHE_HOME).' : undefined)
}
