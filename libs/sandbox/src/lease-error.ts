import type { InvalidReason } from '@osworld-e2b/contracts'

export type LeaseErrorCode = Extract<InvalidReason, 'sandbox_create_failed' | 'guest_not_ready' | 'guest_lost' | 'interrupted'> | 'filter_refused'

/** Why there is no usable sandbox; the codes but the last are reasons of an attempt's outcome. */
export class LeaseError extends Error {
  readonly code: LeaseErrorCode

  constructor(code: LeaseErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'LeaseError'
    this.code = code
  }
}
