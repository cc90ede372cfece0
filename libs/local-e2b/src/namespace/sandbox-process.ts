import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { waitForAgent } from '../agent-client/wait-for-agent.ts'
import { LocalE2bError } from '../error.ts'
import { readProcessIdentity } from '../process-identity.ts'
import { keepGuestLog, type GuestLog } from './guest-log.ts'
import type { ListeningSocket } from './listening-socket.ts'

export interface SandboxProcessRequest {
  readonly folder: string
  readonly agentSocket: string
  readonly socket: ListeningSocket
  /** Command line prefix that enters the guest's user namespace. */
  readonly enter: readonly string[]
  readonly setupArguments: readonly [runtime: string, hostname: string, network: 'loopback' | 'host', lower: string]
  readonly environment: Readonly<Record<string, string>>
  readonly startTimeoutMs: number
}

export interface SandboxProcess {
  readonly initPid: number
  /** Mount points in the upper folder that only this run needed, relative to it, in the order they were made. */
  readonly passingPaths: readonly string[]
  /** No process of the sandbox is left. */
  readonly exited: Promise<void>
  kill(): Promise<void>
}

const namespaces = ['--mount', '--pid', '--ipc', '--uts', '--cgroup']

/** Starts the namespaces and waits until the agent answers; when that fails nothing is left running. */
export async function startSandboxProcess(request: SandboxProcessRequest): Promise<SandboxProcess> {
  const child = spawnSupervisor(request)
  const log = keepGuestLog(child, `${request.folder}/agent.log`)
  const reported = readReports(child.stdio[4] as Readable)
  const exited = untilGone(child, reported)
  const kill = async () => {
    const initPid = await Promise.race([reported.initPid, exited])
    signalQuietly(typeof initPid === 'number' ? initPid : child.pid)
    await exited
  }
  try {
    await untilReady({ request, child, exited, log })
    return { initPid: await reported.initPid, passingPaths: reported.passingPaths, exited, kill }
  } catch (error) {
    await kill()
    throw error
  }
}

/**
 * The death signal comes after `nsenter`, as a change of ids clears it: when this process dies the kernel kills `unshare`,
 * and its death kills pid 1 and with it everything of the sandbox.
 */
function spawnSupervisor(request: SandboxProcessRequest): ChildProcess {
  const [file = '', ...enter] = request.enter
  const network = request.setupArguments[2] === 'host' ? [] : ['--net']
  const unshare = ['setpriv', '--pdeathsig', 'KILL', 'unshare', ...namespaces, ...network, '--fork', '--kill-child=SIGKILL', '--']
  return spawn(file, [...enter, ...unshare, 'bash', '-c', '. "$1/setup.sh"', 'setup', ...request.setupArguments], {
    cwd: request.folder,
    env: request.environment,
    stdio: ['ignore', 'pipe', 'pipe', request.socket.descriptor, 'pipe'],
  })
}

interface Reports {
  readonly initPid: Promise<number>
  readonly passingPaths: string[]
}

function readReports(source: Readable): Reports {
  const passingPaths: string[] = []
  const initPid = new Promise<number>((resolve) => {
    createInterface({ input: source }).on('line', (line) => {
      if (line.startsWith('pid ')) resolve(Number(line.slice(4)))
      else if (line.startsWith('made ')) passingPaths.push(line.slice(5))
    })
  })
  return { initPid, passingPaths }
}

/** The supervisor ends after pid 1, unless it was killed itself; then pid 1 is dying and is waited for. */
async function untilGone(child: ChildProcess, reported: Reports): Promise<void> {
  await new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  })
  if (child.signalCode === null) return
  const initPid = await Promise.race([reported.initPid, Promise.resolve(undefined)])
  if (initPid === undefined) return
  while ((await readProcessIdentity(initPid)) !== undefined) await delay(5)
}

interface Readiness {
  readonly request: SandboxProcessRequest
  readonly child: ChildProcess
  readonly exited: Promise<void>
  readonly log: GuestLog
}

async function untilReady({ request, child, exited, log }: Readiness): Promise<void> {
  const stop = new AbortController()
  const timer = setTimeout(() => { stop.abort(`no answer within ${request.startTimeoutMs} ms`) }, request.startTimeoutMs)
  child.once('error', (error) => { stop.abort(error.message) })
  void exited.then(() => { stop.abort('it ended') })
  try {
    await waitForAgent(request.agentSocket, stop.signal)
  } catch (cause) {
    const said = log.text().trim()
    const reason = String(stop.signal.reason)
    throw new LocalE2bError('start_failed', `The sandbox in ${request.folder} did not start: ${reason}. Its log: ${said || '(empty)'}`, { cause })
  } finally {
    clearTimeout(timer)
    stop.abort()
  }
}

function signalQuietly(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // Already gone is what was wanted.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
