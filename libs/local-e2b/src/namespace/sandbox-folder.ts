import { randomUUID } from 'node:crypto'
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { isAbsolute, join, relative } from 'node:path'
import type { StartRequest } from '../driver.ts'
import { LocalE2bError } from '../error.ts'
import { isLiving, readProcessIdentity, type ProcessIdentity } from '../process-identity.ts'
import type { HostNetworkSettings } from './host-network.ts'

export interface SandboxFolderRequest {
  readonly dataFolder: string
  readonly folder: string
  readonly start: StartRequest
  readonly hostNetwork: HostNetworkSettings
  readonly owner: ProcessIdentity
}

const folderMode = 0o711

/**
 * Lays out a sandbox's folder but for the overlay's own two, and gives the overlay's `lowerdir`. Short links stand for the
 * layers: the kernel takes 4 KiB of options, and the guest can read them.
 */
export async function makeSandboxFolder(request: SandboxFolderRequest): Promise<string> {
  const { folder, start } = request
  await claimFolder(folder, request.owner)
  await mkdir(join(folder, 'root'))
  await writeFile(join(folder, 'boot_id'), `${randomUUID()}\n`)
  if (start.network === 'host') await writeHostNetwork(join(folder, 'host-network'), request.hostNetwork)
  if (start.layers.length === 0) throw new LocalE2bError('start_failed', `Sandbox ${start.id} has no layer to stand on.`)
  for (const [index, layer] of start.layers.entries()) {
    await symlink(layerLink(layer, request), join(folder, `l${index}`))
  }
  return start.layers.map((_, index) => `l${index}`).join(':')
}

/** The folder appears with its owner in it, so that nobody ever takes a new one for an abandoned one. */
async function claimFolder(folder: string, owner: ProcessIdentity): Promise<void> {
  const passing = `${folder}.${owner.pid}.partial`
  await mkdir(passing, { mode: folderMode })
  await writeFile(join(passing, 'owner.json'), `${JSON.stringify(owner)}\n`)
  await rename(passing, folder)
}

/** A layer of the data folder is linked relatively, since guest root may be unable to walk down to the data folder. */
function layerLink(layer: string, request: SandboxFolderRequest): string {
  const inside = relative(request.dataFolder, layer)
  return inside.startsWith('..') || isAbsolute(inside) ? layer : relative(request.folder, layer)
}

async function writeHostNetwork(folder: string, settings: HostNetworkSettings): Promise<void> {
  await mkdir(folder, { mode: 0o755 })
  for (const [name, text] of Object.entries(settings.files)) await writeFile(join(folder, name), text, { mode: 0o644 })
}

/** Whether the process that made a sandbox's folder still runs; a folder without a readable owner has none. */
export async function hasLivingOwner(folder: string): Promise<boolean> {
  const claiming = Number(/\.(\d+)\.partial$/.exec(folder)?.[1])
  if (claiming > 0) return (await readProcessIdentity(claiming)) !== undefined
  const text = await readFile(join(folder, 'owner.json'), 'utf8').catch(() => '')
  const owner = parseOwner(text)
  return owner !== undefined && (await isLiving(owner))
}

function parseOwner(text: string): ProcessIdentity | undefined {
  const [, pid, startTime] = /^\{"pid":(\d+),"startTime":"(\d+)"\}$/.exec(text.trim()) ?? []
  return pid === undefined || startTime === undefined ? undefined : { pid: Number(pid), startTime }
}
