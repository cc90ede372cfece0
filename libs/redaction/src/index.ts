export { RedactionError, type RedactionErrorCode } from './redaction-error.ts'
export { createRedactor, type Redactor } from './redactor.ts'
export { secret, type Secret } from './secret.ts'
