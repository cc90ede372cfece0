import { invalidReasonSchema, type InvalidReason } from '@osworld-e2b/contracts'
import { LeaseError } from '@osworld-e2b/sandbox'

export type EnvironmentErrorCode = Extract<InvalidReason, 'cleanup_failed' | 'interrupted'>

/** A request that could not be served for a reason of the environment's own. */
export class EnvironmentError extends Error {
  readonly code: EnvironmentErrorCode

  constructor(code: EnvironmentErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'EnvironmentError'
    this.code = code
  }
}

/** The reason that a reply gives for an error. */
export function reasonOf(error: unknown): { readonly code: InvalidReason; readonly message: string } {
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof LeaseError || error instanceof EnvironmentError)) return { code: 'relay_failed', message }
  const reason = invalidReasonSchema.safeParse(error.code)
  return { code: reason.success ? reason.data : 'relay_failed', message }
}
