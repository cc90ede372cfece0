/** Codes of the Connect protocol that this agent answers with, and their HTTP status. */
const statusOfCode = {
  invalid_argument: 400,
  unauthenticated: 401,
  not_found: 404,
  already_exists: 409,
  failed_precondition: 412,
  internal: 500,
  unimplemented: 501,
  deadline_exceeded: 504,
} as const

export type RpcCode = keyof typeof statusOfCode

/** A refusal that the caller sees with its code. */
export class RpcError extends Error {
  readonly code: RpcCode

  constructor(code: RpcCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RpcError'
    this.code = code
  }

  get status(): number {
    return statusOfCode[this.code]
  }
}

/** Turns whatever was thrown into a refusal; a file system's error keeps its meaning. */
export function toRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new RpcError(codeOfErrno(errnoOf(error)), message, { cause: error })
}

/** Name of a system error (`ENOENT` …), if it is one. */
export function errnoOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' ? code : undefined
}

function codeOfErrno(errno: string | undefined): RpcCode {
  switch (errno) {
    case 'ENOENT':
      return 'not_found'
    case 'EEXIST':
      return 'already_exists'
    case 'ENOTDIR':
    case 'EISDIR':
    case 'ENAMETOOLONG':
    case 'EINVAL':
      return 'invalid_argument'
    default:
      return 'internal'
  }
}
