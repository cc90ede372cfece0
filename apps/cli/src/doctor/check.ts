import type { DoctorCheck } from '@osworld-e2b/contracts'

interface Seen {
  readonly need: string
  readonly found: string
}

/** A need that nothing runs without: there, or missing with what to do about it. */
export function required(seen: Seen, remedy: string | undefined): DoctorCheck {
  return remedy === undefined ? { status: 'ok', ...seen, required: true } : { status: 'missing', ...seen, required: true, remedy }
}

/** A need that is only advised: fine, or with what to do about it. */
export function advised(seen: Seen, remedy: string | undefined): DoctorCheck {
  return remedy === undefined ? { status: 'ok', ...seen, required: false } : { status: 'warning', ...seen, required: false, remedy }
}
