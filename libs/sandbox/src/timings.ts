/** Limits in milliseconds; tests shorten them. */
export interface SandboxTimings {
  /** One create call; under E2B's load balancer's 80 s. */
  readonly createTimeoutMs: number
  /** How long a create call that is no longer wanted may still end by itself, which leaves no doubt about its sandbox. */
  readonly createGraceMs: number
  /** How long an unclear create is searched for its sandbox, which may appear after the call failed. */
  readonly orphanSearchMs: number
  /** How long a kill is repeated until the API says that the sandbox is gone. */
  readonly killDeadlineMs: number
  /** Pause between two looks at the API while something is awaited. */
  readonly pollMs: number
}

export const defaultTimings: SandboxTimings = {
  createTimeoutMs: 70_000,
  createGraceMs: 10_000,
  orphanSearchMs: 8_000,
  killDeadlineMs: 30_000,
  pollMs: 500,
}
