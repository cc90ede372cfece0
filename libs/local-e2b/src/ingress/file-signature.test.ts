import { describe, expect, it } from 'vitest'
import { isExpired, isSignedWith, signedFileRequest } from './file-signature.ts'

// SHA-256 of `/tmp/a:read::secret` in unpadded base64, by openssl.
const signature = 'v1_7ByvmOfOWTwBS4buCLxzDqMIF4igSEirO15y8a94ZEk'
const address = (query: Record<string, string>): URL => new URL(`http://x/files?${new URLSearchParams(query).toString()}`)

describe('a signed file address', () => {
  it('is recognised only on /files and only with a signature', () => {
    expect(signedFileRequest('GET', address({ path: '/a' }))).toBeUndefined()
    expect(signedFileRequest('GET', new URL('http://x/other?signature=v1_x'))).toBeUndefined()
    expect(signedFileRequest('POST', address({ path: '/a', signature: 'v1_x', username: 'root' }))).toMatchObject({ operation: 'write', user: 'root' })
  })

  it('holds for the token, path, operation, user and end that it was made with', () => {
    const request = signedFileRequest('GET', address({ path: '/tmp/a', signature }))
    if (request === undefined) throw new Error('not recognised')
    expect(isSignedWith(request, 'secret')).toBe(true)
    expect(isSignedWith(request, 'other')).toBe(false)
    expect(isSignedWith({ ...request, path: '/tmp/b' }, 'secret')).toBe(false)
    expect(isSignedWith({ ...request, operation: 'write' }, 'secret')).toBe(false)
    expect(isSignedWith({ ...request, user: 'root' }, 'secret')).toBe(false)
    expect(isSignedWith({ ...request, expiresAt: '99999999999' }, 'secret')).toBe(false)
    expect(isSignedWith({ ...request, signature: 'v1_' }, 'secret')).toBe(false)
  })

  it('ends when its time is over, and an unreadable end is over', () => {
    const request = { path: '', operation: 'read' as const, user: '', signature: '', expiresAt: '100' }
    expect(isExpired(request, 100_000)).toBe(false)
    expect(isExpired(request, 100_001)).toBe(true)
    expect(isExpired({ ...request, expiresAt: 'never' }, 0)).toBe(true)
    expect(isExpired({ ...request, expiresAt: undefined }, 1e15)).toBe(false)
  })
})
