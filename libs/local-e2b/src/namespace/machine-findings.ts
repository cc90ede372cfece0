import { findSpareRange, guestIdCount, type Account } from './id-map.ts'

/** What was seen on a machine; nothing here is judged. */
export interface MachineFacts {
  readonly platform: string
  /** As `uname -r` says it. */
  readonly kernelRelease: string
  readonly account: Account
  /** Names of the needed programs that were not found. */
  readonly missingPrograms: readonly string[]
  readonly subuidText: string
  readonly subgidText: string
  /** `fs.inotify.max_user_instances`, shared by all sandboxes of an account. */
  readonly inotifyInstances: number | undefined
  readonly apparmorRestrictsUserNamespaces: boolean
  /** What happened when a small sandbox was really mounted. */
  readonly trial: { readonly passed: true } | { readonly passed: false; readonly step: string; readonly reason: string }
}

export interface MachineFinding {
  readonly need: string
  readonly found: string
  /** What to do about it, a command where there is one. */
  readonly remedy: string
  /** Without it no sandbox can start; else it only limits. */
  readonly required: boolean
}

/** Programs that sandboxes and base images are made with, and the Debian package of each. */
export const packageOfProgram: Readonly<Record<string, string>> = {
  bash: 'bash',
  cp: 'coreutils',
  mkfifo: 'coreutils',
  hostname: 'hostname',
  ip: 'iproute2',
  ldd: 'libc-bin',
  mmdebstrap: 'mmdebstrap',
  mount: 'mount',
  newgidmap: 'uidmap',
  newuidmap: 'uidmap',
  nsenter: 'util-linux',
  pivot_root: 'util-linux',
  setpriv: 'util-linux',
  umount: 'mount',
  unshare: 'util-linux',
}

const oldestKernel = [5, 11] as const
/** A desktop holds about 25. */
const enoughInotifyInstances = 512

/** Judges a machine; an empty list means that local sandboxes work on it. */
export function machineFindings(facts: MachineFacts): readonly MachineFinding[] {
  if (facts.platform !== 'linux') {
    const remedy = 'Use a Linux machine or virtual machine (on Windows: WSL 2), or E2B itself.'
    return [{ need: 'Linux', found: facts.platform, remedy, required: true }]
  }
  return [...kernelFindings(facts), ...programFindings(facts), ...idFindings(facts), ...trialFindings(facts), ...limitFindings(facts)]
}

function kernelFindings({ kernelRelease }: MachineFacts): readonly MachineFinding[] {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(kernelRelease) ?? []
  const [needMajor, needMinor] = oldestKernel
  if (Number(major) > needMajor || (Number(major) === needMajor && Number(minor) >= needMinor)) return []
  const need = `Linux ${needMajor}.${needMinor} or newer (overlay file systems in user namespaces)`
  return [{ need, found: kernelRelease, remedy: 'Update the kernel.', required: true }]
}

function programFindings({ account, missingPrograms }: MachineFacts): readonly MachineFinding[] {
  const needed = missingPrograms.filter((program) => account.uid !== 0 || packageOfProgram[program] !== 'uidmap')
  if (needed.length === 0) return []
  const packages = [...new Set(needed.map((program) => packageOfProgram[program] ?? program))].sort()
  const remedy = `apt-get install --no-install-recommends ${packages.join(' ')}${account.uid === 0 ? '' : ' (as root)'}`
  return [{ need: `the programs ${needed.join(', ')}`, found: 'not installed', remedy, required: true }]
}

function idFindings({ account, subuidText, subgidText }: MachineFacts): readonly MachineFinding[] {
  if (account.uid === 0) return []
  const lacking = [['/etc/subuid', subuidText], ['/etc/subgid', subgidText]].filter(([, text]) => findSpareRange(text ?? '', account) === undefined)
  return lacking.map(([file]) => ({
    need: `${guestIdCount} spare ids for ${account.name} in ${file ?? ''}`,
    found: 'no such line',
    remedy: `usermod --add-subuids 200000-265535 --add-subgids 200000-265535 ${account.name} (as root)`,
    required: true,
  }))
}

function trialFindings({ trial, apparmorRestrictsUserNamespaces, account }: MachineFacts): readonly MachineFinding[] {
  if (trial.passed) return []
  const found = `${trial.step} failed: ${trial.reason}`
  return [{ need: 'namespaces with an overlay and a proc of their own', found, remedy: trialRemedy(trial.step, apparmorRestrictsUserNamespaces && account.uid !== 0), required: true }]
}

function trialRemedy(step: string, apparmorRestricts: boolean): string {
  if (apparmorRestricts) return 'sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 (as root), or run as root.'
  switch (step) {
    case 'unshare':
      return 'sysctl -w user.max_user_namespaces=15000 (as root). In a container: start it with --privileged, or run outside.'
    case 'proc':
      return 'In a container /proc is partly covered: start it with --privileged or --security-opt systempaths=unconfined.'
    default:
      return 'Load the overlay module (modprobe overlay, as root) or use a kernel that has it.'
  }
}

function limitFindings({ inotifyInstances }: MachineFacts): readonly MachineFinding[] {
  if (inotifyInstances === undefined || inotifyInstances >= enoughInotifyInstances) return []
  return [{
    need: `${enoughInotifyInstances} inotify instances, for more than a few desktops at once`,
    found: `fs.inotify.max_user_instances is ${inotifyInstances}`,
    remedy: 'sysctl -w fs.inotify.max_user_instances=8192 (as root)',
    required: false,
  }]
}
