/** `gone` only when the API does not know it; `ending` is what a local server calls one that is not gone yet. */
export type SandboxState = 'running' | 'paused' | 'ending' | 'gone'

/** A sandbox as the API lists it. */
export interface SandboxSummary {
  readonly id: string
  readonly template: string
  readonly metadata: Readonly<Record<string, string>>
  readonly state: Exclude<SandboxState, 'gone'>
  readonly startedAt: Date
  readonly endAt: Date
}

export interface CreateCall {
  readonly template: string
  readonly metadata: Readonly<Record<string, string>>
  readonly timeoutSeconds: number
  readonly requestTimeoutMs: number
  readonly signal: AbortSignal
}

export interface CreatedSandbox {
  readonly id: string
  /** Host name under which the provider's edge serves a guest port. */
  host(port: number): string
  /** Absent when the server left the guest's ports open to everybody. */
  readonly trafficToken: string | undefined
}

/** Why a call failed, as far as it matters here. */
export interface Failure {
  /** One sentence without its full stop. */
  readonly sentence: string
  /** The call may have had its effect though it failed. */
  readonly ambiguous: boolean
  /** The server that ran the sandboxes does not exist any more, so neither do they. */
  readonly serverIsGone: boolean
}

/** What we need of the API that manages sandboxes; each call ends within its time limit and throws the vendor's errors. */
export interface ControlPlane {
  create(call: CreateCall): Promise<CreatedSandbox>
  /** False when there was no such sandbox. */
  kill(id: string): Promise<boolean>
  state(id: string): Promise<SandboxState>
  /** Sets the time to live, counted from now; false when there is no such sandbox. */
  extend(id: string, timeoutSeconds: number): Promise<boolean>
  /** Running and paused sandboxes whose metadata holds all of these pairs. */
  list(metadata: Readonly<Record<string, string>>): Promise<readonly SandboxSummary[]>
  explain(error: unknown): Failure
}
