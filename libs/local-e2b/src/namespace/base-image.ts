import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { BaseImage } from '../driver.ts'
import { LocalE2bError } from '../error.ts'

export interface BaseImageRequest {
  readonly image: BaseImage
  /** An empty folder that belongs to guest root. */
  readonly folder: string
  readonly enter: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly onLine: (line: string) => void
}

/**
 * Mmdebstrap walks to its target from `/`, which guest root may not be allowed to, so the folder is shown at `/mnt` of a
 * mount namespace of its own. Packages leave things in `/run` that a later start would take for a running system.
 */
const script = String.raw`
set -eu
mount -c --bind . /mnt
mmdebstrap --mode=root --format=directory "$@"
cd /mnt
find run -mindepth 1 -delete
rm -f etc/resolv.conf etc/hostname
: > etc/resolv.conf
[ -e etc/hosts ] || echo '127.0.0.1 localhost' > etc/hosts
`

/** Fills a folder with a Debian-like system by one `mmdebstrap`, under the guest's id map. */
export async function fillBaseImage(request: BaseImageRequest): Promise<void> {
  const [file = '', ...enter] = request.enter
  const unshare = ['setpriv', '--pdeathsig', 'KILL', 'unshare', '--mount', '--pid', '--mount-proc', '--fork', '--kill-child=SIGKILL', '--']
  const child = spawn(file, [...enter, ...unshare, 'bash', '-c', script, 'base', ...mmdebstrapArguments(request.image)], {
    cwd: request.folder,
    env: request.environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const last: string[] = []
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      last.push(line)
      if (last.length > 20) last.shift()
      request.onLine(line)
    })
  }
  const status = await new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(code === 0 ? '' : `status ${String(code ?? signal)}`))
  })
  if (status !== '') throw new LocalE2bError('build_failed', `mmdebstrap ${request.image.suite} failed (${status}). Its last lines:\n${last.join('\n')}`)
}

export function mmdebstrapArguments(image: BaseImage): readonly string[] {
  return [
    `--variant=${image.variant}`,
    ...image.aptOptions.map((option) => `--aptopt=${option}`),
    ...image.dpkgOptions.map((option) => `--dpkgopt=${option}`),
    ...(image.packages.length === 0 ? [] : [`--include=${image.packages.join(',')}`]),
    image.suite,
    '/mnt',
  ]
}
