import type { NetworkMode } from '../driver.ts'
import { guestHostNetworkFolder, guestRuntimeFolder } from './guest-paths.ts'

/** Two tables for `mount --all`, since one program for many mounts starts a sandbox much faster than one program each. */
export interface MountTables {
  /** Mounted once the overlay is there. */
  readonly first: string
  /** Mounted on places that the first one brought. */
  readonly second: string
}

const nodes = ['null', 'zero', 'full', 'random', 'urandom', 'tty']
const readOnly = 'bind,ro,nosuid,nodev'

/** Paths are relative to the sandbox's folder; `runtime` is the runtime folder seen from there. */
export function mountTables(network: NetworkMode, runtime: string): MountTables {
  const isHost = network === 'host'
  const run = `root${guestRuntimeFolder}`
  return {
    first: table([
      ['proc', 'root/proc', 'proc', 'nosuid,nodev,noexec'],
      // A sysfs of its own needs a network namespace of its own. A build keeps what it puts in /tmp, as on E2B.
      ...(isHost
        ? [['/sys', 'root/sys', 'none', 'rbind'], ['host-network/resolv.conf', 'root/etc/resolv.conf', 'none', readOnly]]
        : [['sysfs', 'root/sys', 'sysfs', 'ro,nosuid,nodev,noexec'], ['tmpfs', 'root/tmp', 'tmpfs', 'mode=1777,nosuid,nodev']]),
      ['tmpfs', 'root/dev', 'tmpfs', 'mode=755,nosuid,size=64k'],
      ['tmpfs', 'root/run', 'tmpfs', 'mode=755,nosuid,nodev'],
    ]),
    second: table([
      ...nodes.map((name) => [`/dev/${name}`, `root/dev/${name}`, 'none', 'bind']),
      ['devpts', 'root/dev/pts', 'devpts', 'newinstance,ptmxmode=0666,mode=620,gid=5'],
      ['tmpfs', 'root/dev/shm', 'tmpfs', 'mode=1777,nosuid,nodev'],
      [runtime, run, 'none', readOnly],
      ...(isHost ? [['host-network', `root${guestHostNetworkFolder}`, 'none', readOnly]] : []),
      // A guest may mount a proc of its own (Flatpak, thumbnailers) only while it can see one that nothing covers.
      ['proc', `${run}/proc`, 'proc', 'nosuid,nodev,noexec'],
      ['boot_id', 'root/proc/sys/kernel/random/boot_id', 'none', readOnly],
    ]),
  }
}

/** What a guest's `/dev` holds before the second table besides its folders: empty files to mount on, and links with their targets. */
export const deviceSkeleton = {
  files: nodes,
  links: { ptmx: 'pts/ptmx', fd: '/proc/self/fd', stdin: 'fd/0', stdout: 'fd/1', stderr: 'fd/2' },
}

function table(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.join(' ')} 0 0\n`).join('')
}
