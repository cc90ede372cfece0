/** Time as a build sees it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Resolves after `delayMs`; rejects when `signal` aborts. */
  sleep(delayMs: number, signal: AbortSignal): Promise<void>
}
