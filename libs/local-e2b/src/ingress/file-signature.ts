import { timingSafeEqual } from 'node:crypto'
import { sha256Hex } from '@osworld-e2b/inventory'

/** What a signed file address says of itself. */
export interface SignedFileRequest {
  readonly path: string
  readonly operation: 'read' | 'write'
  readonly user: string
  readonly signature: string
  /** Unix seconds; undefined for an address without end. */
  readonly expiresAt: string | undefined
}

/** The signed file request in a method and address, or undefined when it carries no signature. */
export function signedFileRequest(method: string, url: URL): SignedFileRequest | undefined {
  const signature = url.searchParams.get('signature')
  if (url.pathname !== '/files' || signature === null) return undefined
  return {
    path: url.searchParams.get('path') ?? '',
    operation: method === 'GET' || method === 'HEAD' ? 'read' : 'write',
    user: url.searchParams.get('username') ?? '',
    signature,
    expiresAt: url.searchParams.get('signature_expiration') ?? undefined,
  }
}

/** Whether the signature was made with this sandbox's token: `v1_` and the unpadded base64 of a SHA-256. */
export function isSignedWith(request: SignedFileRequest, token: string): boolean {
  const expiration = request.expiresAt === undefined ? '' : `:${request.expiresAt}`
  const digest = sha256Hex(`${request.path}:${request.operation}:${request.user}:${token}${expiration}`)
  const expected = Buffer.from(`v1_${Buffer.from(digest, 'hex').toString('base64').replace(/=+$/, '')}`)
  const given = Buffer.from(request.signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

export function isExpired(request: SignedFileRequest, nowMs: number): boolean {
  return request.expiresAt !== undefined && !(Number(request.expiresAt) * 1000 >= nowMs)
}
