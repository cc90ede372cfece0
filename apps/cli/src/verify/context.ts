import type { VerifyReport } from '@osworld-e2b/contracts'
import type { SecretFinder } from './find-secrets.ts'

/** What all checks of one run share. */
export interface VerifyContext {
  /** Absolute, without links. */
  readonly folder: string
  readonly findSecrets: SecretFinder
  /** Counts up while the checks go on. */
  readonly checked: { -readonly [Field in keyof VerifyReport['checked']]: number }
}

export const unchangedCopy = 'get an unchanged copy of the folder, or run the trial again in a new run.'
