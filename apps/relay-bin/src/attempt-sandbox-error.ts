import { invalidReasonSchema, type InvalidReason } from '@osworld-e2b/contracts'
import { LeaseError } from '@osworld-e2b/sandbox'

export type AttemptSandboxErrorCode = Extract<InvalidReason, 'cleanup_failed' | 'interrupted'>

/** A request that could not be served though no sandbox was to blame. */
export class AttemptSandboxError extends Error {
  readonly code: AttemptSandboxErrorCode

  constructor(code: AttemptSandboxErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'AttemptSandboxError'
    this.code = code
  }
}

/** The reason that a reply gives for an error. */
export function reasonOf(error: unknown): { readonly code: InvalidReason; readonly message: string } {
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof LeaseError || error instanceof AttemptSandboxError)) return { code: 'relay_failed', message }
  const reason = invalidReasonSchema.safeParse(error.code)
  return { code: reason.success ? reason.data : 'relay_failed', message }
}
