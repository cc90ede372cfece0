import { randomUUID } from 'node:crypto'
import type { ControlPlane, CreateCall, CreatedSandbox } from './control-plane.ts'
import { LeaseError } from './lease-error.ts'
import { huntOrphan } from './orphans.ts'
import type { SandboxTimings } from './timings.ts'

/** Metadata key that is unique to one create call, so that the sandbox of a call without an answer can be found. */
export const createKeyName = 'osworld_e2b_create'

export interface CreateRequest {
  readonly template: string
  readonly metadata: Readonly<Record<string, string>>
  readonly timeoutSeconds: number
  /** Aborting it gives up the create; what it made is killed before the promise rejects. */
  readonly signal?: AbortSignal
}

/** Creates a sandbox whose ports need a token; on any failure nothing is left behind, or the message says so. */
export async function createSandbox(plane: ControlPlane, request: CreateRequest, timings: SandboxTimings): Promise<CreatedSandbox & { readonly trafficToken: string }> {
  const metadata = { ...request.metadata, [createKeyName]: randomUUID() }
  if (isAborted(request.signal)) throw new LeaseError('interrupted', 'The sandbox was not created: a stop was asked for.')
  const created = await callCreate(plane, { ...request, metadata }, timings)
  const { trafficToken } = created
  if (isAborted(request.signal)) throw await discard(plane, metadata, { timings, code: 'interrupted', why: 'A stop was asked for while the sandbox was created' })
  if (trafficToken === undefined) {
    const why = 'The server gave no traffic token, so anybody could run code in the sandbox through its ports'
    throw await discard(plane, metadata, { timings, code: 'sandbox_create_failed', why })
  }
  return { ...created, trafficToken }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

async function callCreate(plane: ControlPlane, request: CreateRequest & { readonly metadata: Readonly<Record<string, string>> }, timings: SandboxTimings): Promise<CreatedSandbox> {
  const { template, metadata, timeoutSeconds, signal } = request
  const givingUp = new AbortController()
  let grace: NodeJS.Timeout | undefined
  const onAbort = (): void => {
    grace = setTimeout(() => givingUp.abort(), timings.createGraceMs)
  }
  signal?.addEventListener('abort', onAbort, { once: true })
  const call: CreateCall = { template, metadata, timeoutSeconds, requestTimeoutMs: timings.createTimeoutMs, signal: givingUp.signal }
  try {
    return await plane.create(call)
  } catch (error) {
    const { sentence, ambiguous } = plane.explain(error)
    const code = isAborted(signal) ? 'interrupted' : 'sandbox_create_failed'
    const why = `No sandbox of ${template}: ${sentence}`
    throw ambiguous ? await discard(plane, metadata, { timings, code, why, cause: error }) : new LeaseError(code, `${why}.`, error)
  } finally {
    signal?.removeEventListener('abort', onAbort)
    clearTimeout(grace)
  }
}

interface Discard {
  readonly timings: SandboxTimings
  readonly code: 'interrupted' | 'sandbox_create_failed'
  readonly why: string
  readonly cause?: unknown
}

const huntResults = {
  none: 'no sandbox was left behind',
  killed: 'the sandbox that was left behind is killed',
  unknown: 'a sandbox may be left behind until its time to live ends',
}

async function discard(plane: ControlPlane, metadata: Readonly<Record<string, string>>, { timings, code, why, cause }: Discard): Promise<LeaseError> {
  const result = await huntOrphan(plane, metadata, timings)
  return new LeaseError(code, `${why}; ${huntResults[result]}.`, cause)
}
