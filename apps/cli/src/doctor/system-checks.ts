import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { DoctorCheck } from '@osworld-e2b/contracts'
import { type MachineFinding, probeMachine } from '@osworld-e2b/local-e2b'
import { checkConfinement } from '@osworld-e2b/upstream'
import { ownAccount } from '../clean/cleaning-facts.ts'
import { capacity, type Machine } from '../run/capacity.ts'
import { advised, required } from './check.ts'

export function nodeCheck(version: string): DoctorCheck {
  const isSupported = isSupportedNode(version)
  return required({ need: 'Node', found: version }, isSupported ? undefined : 'Install Node 20 (20.19 or later), 22 (22.12 or later), or 24 or later.')
}

/** The root package's `engines`; what the packages in the lock file ask for. */
function isSupportedNode(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24
}

export interface System {
  readonly platform: string
  readonly architecture: string
  readonly kernelRelease: string
  readonly temporaryFolder: string
  readonly environment: NodeJS.ProcessEnv
}

export function systemCheck({ platform, architecture, kernelRelease }: System): DoctorCheck {
  const fits = platform === 'linux' && (architecture === 'x64' || architecture === 'arm64')
  return required({ need: 'operating system', found: `${platform} ${kernelRelease} ${architecture}` }, fits ? undefined : 'Use Linux on a 64-bit machine or virtual machine (on Windows: WSL 2).')
}

/** A small sandbox is really mounted; every finding is a line, and one line says that there is none. */
export async function sandboxChecks({ platform, kernelRelease, temporaryFolder, environment }: System): Promise<readonly DoctorCheck[]> {
  return sandboxLines(await probeMachine({ platform, kernelRelease, temporaryFolder, environment, account: ownAccount() }))
}

export function sandboxLines(findings: readonly MachineFinding[]): readonly DoctorCheck[] {
  const need = 'user namespaces, overlay, programs'
  const lines = findings.map((finding) => (finding.required ? required : advised)({ need: finding.need, found: finding.found }, finding.remedy))
  const works = required({ need, found: 'a small sandbox was mounted; mmdebstrap and all other programs are there' }, undefined)
  return findings.some((finding) => finding.required) ? lines : [works, ...lines]
}

/** Runs a program in the same namespaces that attempts get. */
export async function confinementCheck(environment: NodeJS.ProcessEnv): Promise<DoctorCheck> {
  const check = await checkConfinement({ environment })
  const need = 'confinement by bubblewrap'
  if (check.kind === 'refused') return required({ need, found: 'does not work' }, sentence(check.reason))
  const { path, disablesUserNamespaces } = check.bubblewrap
  return required({ need, found: `a program ran in it (${path}${disablesUserNamespaces ? '' : ', older than 0.8'})` }, undefined)
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

export async function loopbackCheck(): Promise<DoctorCheck> {
  const need = 'ports on 127.0.0.1'
  const server = createServer()
  try {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return required({ need, found: 'one was bound' }, undefined)
  } catch (error) {
    return required({ need, found: error instanceof Error ? error.message : String(error) }, 'Bring the loopback interface up (ip link set lo up), and see how many files and ports are open.')
  } finally {
    server.close()
  }
}

/** Of an account; a desktop holds about 25. */
const inotifyInstancesOfDesktop = 25

/** Whether the kernel's limit carries as many desktops as the rest of the machine does. */
export async function inotifyCheck(machine: Machine): Promise<DoctorCheck | undefined> {
  const text = await readFile('/proc/sys/fs/inotify/max_user_instances', 'utf8').catch(() => undefined)
  return text === undefined ? undefined : inotifyLine(Number(text), machine)
}

export function inotifyLine(instances: number, machine: Machine): DoctorCheck {
  const desktops = Math.floor(instances / inotifyInstancesOfDesktop)
  const seen = { need: 'inotify instances', found: `${instances}, for about ${desktops} ${desktops === 1 ? 'desktop' : 'desktops'} at a time` }
  return advised(seen, desktops < capacity(machine) ? 'sysctl -w fs.inotify.max_user_instances=8192 (as root)' : undefined)
}
