import type { Connection } from '@osworld-e2b/contracts'
import type { ControlPlane, SandboxSummary } from './control-plane.ts'
import { createSandbox, type CreateRequest } from './create-sandbox.ts'
import { e2bControlPlane } from './e2b-control-plane.ts'
import { holdLease, type SandboxLease } from './lease.ts'
import { killMatching, type KillReport } from './orphans.ts'
import { defaultTimings, type SandboxTimings } from './timings.ts'

export interface LeaseRequest extends CreateRequest {
  /** Told of every call about the sandbox that failed without being the end of it. */
  readonly onTrouble?: (message: string) => void
}

/** The sandboxes of one account. */
export interface Sandboxes {
  /** Creates a sandbox and takes charge of it; throws `LeaseError` and leaves nothing behind. */
  create(request: LeaseRequest): Promise<SandboxLease>
  /** Running and paused sandboxes whose metadata holds all of these pairs, of all the pages of the API's list. */
  list(metadata: Readonly<Record<string, string>>): Promise<readonly SandboxSummary[]>
  /** Kills by id; false when there was no such sandbox. */
  kill(id: string): Promise<boolean>
  /** Kills all that match, and lists again; refuses an empty filter. */
  killMatching(metadata: Readonly<Record<string, string>>): Promise<KillReport>
  /** Why a call failed: one sentence without its full stop. */
  explain(error: unknown): string
}

/** Sandboxes through E2B's API at `connection`; no call is made yet. */
export function connectSandboxes(connection: Connection, timings: Partial<SandboxTimings> = {}): Sandboxes {
  const plane: ControlPlane = e2bControlPlane(connection)
  const limits = { ...defaultTimings, ...timings }
  return {
    async create(request) {
      const sandbox = await createSandbox(plane, request, limits)
      const { timeoutSeconds, onTrouble } = request
      return holdLease({ connection, plane, sandbox, timeoutSeconds, timings: limits, ...(onTrouble === undefined ? {} : { onTrouble }) })
    },
    list: (metadata) => plane.list(metadata),
    kill: (id) => plane.kill(id),
    killMatching: (metadata) => killMatching(plane, metadata, limits),
    explain: (error) => plane.explain(error).sentence,
  }
}
