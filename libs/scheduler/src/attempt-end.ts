import { setTimeout as wait } from 'node:timers/promises'
import type { Cleanup } from '@osworld-e2b/contracts'
import { endProcess } from './child-process.ts'
import { isProcessAlive, processesNaming, type ProcessIdentity } from './process-identity.ts'

export interface OrphanReport {
  readonly found: number
  readonly killed: number
  readonly remaining: number
}

export interface AttemptEnd {
  readonly cleanup: Cleanup
  /** What could not be shown to be gone, when `cleanup` is `failed`. */
  readonly cleanupProblem: string
}

export interface EndEvidence {
  /** What `relay-bin` said on leaving; undefined when it left without a word. */
  readonly relayCleanup: Cleanup | undefined
  readonly namespaceInit: ProcessIdentity | undefined
  /** Kills the attempt's sandboxes by their metadata and lists again. */
  readonly killSandboxes: () => Promise<OrphanReport>
}

const namespaceMs = 2_000
/** A create that was under way when `relay-bin` died may show its sandbox only some seconds later. */
const searchMs = 5_000
const pollMs = 100

/** Shows that nothing of an attempt is left: no process in its namespace, no sandbox in the API's list. */
export async function proveEnd({ relayCleanup, namespaceInit, killSandboxes }: EndEvidence): Promise<AttemptEnd> {
  const alive = await proveProcessEnd(namespaceInit)
  const listed = await sandboxProblem(killSandboxes, relayCleanup === undefined ? searchMs : 0)
  const problem = alive ?? listed
  if (problem !== undefined) return failed(problem)
  return { cleanup: relayCleanup === 'none' ? 'none' : 'success', cleanupProblem: '' }
}

/**
 * A first process that is ended by force in the moment before its namespace has tied itself to it leaves the namespace behind, which goes by
 * the path of its control socket.
 */
export async function endUntied(controlPath: string): Promise<void> {
  for (const { pid } of await processesNaming(controlPath)) endProcess(pid)
}

/** Waits for the end of a process that shall end by itself; says so when it does not. */
export async function proveProcessEnd(process: ProcessIdentity | undefined): Promise<string | undefined> {
  if (process === undefined || (await endsWithin(namespaceMs, process))) return undefined
  return 'A process of the attempt is still alive.'
}

async function sandboxProblem(killSandboxes: EndEvidence['killSandboxes'], forMs: number): Promise<string | undefined> {
  const endMs = performance.now() + forMs
  for (;;) {
    try {
      const { remaining } = await killSandboxes()
      if (remaining > 0) return `${remaining} sandboxes of the attempt are still listed.`
    } catch (error) {
      return `The sandboxes could not be listed: ${error instanceof Error ? error.message : String(error)}`
    }
    if (performance.now() >= endMs) return undefined
    await wait(pollMs * 5)
  }
}

async function endsWithin(milliseconds: number, process: ProcessIdentity): Promise<boolean> {
  const endMs = performance.now() + milliseconds
  while (await isProcessAlive(process)) {
    if (performance.now() > endMs) return false
    await wait(pollMs)
  }
  return true
}

function failed(cleanupProblem: string): AttemptEnd {
  return { cleanup: 'failed', cleanupProblem }
}
