import { chmod, mkdir } from 'node:fs/promises'
import path from 'node:path'

/** Where things lie in a data folder. `layers/…` and `bases/…` are named by digest and never change once complete. */
export interface DataFolder {
  readonly root: string
  readonly serverFile: string
  readonly lockFile: string
  readonly templatesFile: string
  readonly bases: string
  readonly layers: string
  readonly uploads: string
  readonly sandboxes: string
}

export function dataFolderAt(root: string): DataFolder {
  const absolute = path.resolve(root)
  return {
    root: absolute,
    serverFile: path.join(absolute, 'server.json'),
    lockFile: path.join(absolute, 'server.lock'),
    templatesFile: path.join(absolute, 'templates.json'),
    bases: path.join(absolute, 'bases'),
    layers: path.join(absolute, 'layers'),
    uploads: path.join(absolute, 'uploads'),
    sandboxes: path.join(absolute, 'sandboxes'),
  }
}

export async function makeDataFolder(folder: DataFolder): Promise<void> {
  await mkdir(folder.root, { recursive: true, mode: 0o711 })
  for (const part of [folder.bases, folder.layers, folder.sandboxes]) await mkdir(part, { recursive: true, mode: 0o755 })
  await mkdir(folder.uploads, { recursive: true, mode: 0o700 })
  await chmod(folder.uploads, 0o700)
}
