import { execFile } from 'node:child_process'
import { constants, existsSync } from 'node:fs'
import { access, mkdtemp, readFile, rmdir } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { Account } from './id-map.ts'
import { hostEnvironment } from './host-environment.ts'
import { machineFindings, packageOfProgram, type MachineFacts, type MachineFinding } from './machine-findings.ts'

export interface MachineProbe {
  readonly platform: string
  /** As `os.release()` says it. */
  readonly kernelRelease: string
  readonly account: Account
  /** Of the caller; programs that are tried see only what `host-environment.ts` names of it. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Where the trial makes a folder to mount on. */
  readonly temporaryFolder: string
}

/** Says what keeps local sandboxes from working here; uses nothing but Node and the programs it looks for. */
export async function probeMachine(probe: MachineProbe): Promise<readonly MachineFinding[]> {
  return machineFindings(await gatherMachineFacts(probe))
}

async function gatherMachineFacts(probe: MachineProbe): Promise<MachineFacts> {
  const { platform, kernelRelease, account } = probe
  const inotify = Number(await textOf('/proc/sys/fs/inotify/max_user_instances'))
  return {
    platform,
    kernelRelease,
    account,
    missingPrograms: await missingPrograms(probe.environment.PATH ?? ''),
    subuidText: await textOf('/etc/subuid'),
    subgidText: await textOf('/etc/subgid'),
    inotifyInstances: inotify > 0 ? inotify : undefined,
    apparmorRestrictsUserNamespaces: (await textOf('/proc/sys/kernel/apparmor_restrict_unprivileged_userns')).trim() === '1',
    trial: await tryNamespaces(probe),
  }
}

async function missingPrograms(path: string): Promise<readonly string[]> {
  const folders = [...path.split(delimiter), '/usr/sbin', '/usr/bin', '/sbin', '/bin'].filter((folder) => folder !== '')
  const missing: string[] = []
  for (const program of Object.keys(packageOfProgram)) {
    const seen = await Promise.all(folders.map((folder) => access(join(folder, program), constants.X_OK).then(() => true, () => false)))
    if (!seen.includes(true)) missing.push(program)
  }
  return missing
}

/** Names each step before it takes it, so that the last name is the step that failed. */
const trialScript = String.raw`
set -e
echo tmpfs; mount -t tmpfs tmpfs .
cd "$PWD"; mkdir lower upper work root
echo overlay; mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work,volatile,userxattr root
mkdir root/proc root/sys
echo proc; mount -t proc proc root/proc
echo sysfs; mount -t sysfs -o ro sysfs root/sys
echo passed
`

async function tryNamespaces(probe: MachineProbe): Promise<MachineFacts['trial']> {
  if (probe.platform !== 'linux') return { passed: false, step: 'unshare', reason: 'this is no Linux' }
  const folder = await mkdtemp(join(probe.temporaryFolder, 'namespace-trial-'))
  const unshare = ['--user', '--map-root-user', '--mount', '--pid', '--net', '--ipc', '--uts', '--cgroup', '--fork', '--kill-child', '--']
  try {
    return await new Promise((resolve) => {
      execFile('unshare', [...unshare, 'sh', '-c', trialScript], { cwd: folder, env: hostEnvironment(probe.environment) }, (error, stdout, stderr) => {
        const step = stdout.trim().split('\n').at(-1) || 'unshare'
        resolve(error === null && step === 'passed' ? { passed: true } : { passed: false, step, reason: stderr.trim() || (error?.message ?? 'it ended early') })
      })
    })
  } finally {
    await rmdir(folder)
  }
}

async function textOf(path: string): Promise<string> {
  return existsSync(path) ? readFile(path, 'utf8') : ''
}
