import { randomUUID, timingSafeEqual } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { sha256Hex } from '@osworld-e2b/inventory'
import { LocalE2bError } from '../error.ts'
import { hasSystemCode } from './read-file.ts'

export interface UploadStore {
  has(hash: string): Promise<boolean>
  /** Path and query of the address that accepts a `PUT` of this archive without an API key. */
  pathFor(hash: string): string
  /** Whether `token` is the one that `pathFor` gave for this hash. */
  accepts(hash: string, token: string | null): boolean
  save(hash: string, body: Readable): Promise<void>
  open(hash: string): Readable
}

const hashPattern = /^[0-9a-f]{64}$/

/** Archives of COPY steps, `uploads/<hash>`. `secret` signs upload addresses, which carry no API key. */
export function uploadStore(folder: string, secret: string): UploadStore {
  const fileOf = (hash: string): string => path.join(folder, checkHash(hash))
  const tokenFor = (hash: string): string => sha256Hex(`upload:${secret}:${hash}`)
  return {
    has: (hash) => exists(fileOf(hash)),
    pathFor: (hash) => `/uploads/${checkHash(hash)}?token=${tokenFor(hash)}`,
    accepts: (hash, token) => token?.length === 64 && timingSafeEqual(Buffer.from(token), Buffer.from(tokenFor(hash))),
    save: async (hash, body) => {
      const temporary = `${fileOf(hash)}.${randomUUID()}.tmp`
      try {
        await pipeline(body, createWriteStream(temporary, { flags: 'wx', mode: 0o600 }))
        await rename(temporary, fileOf(hash))
      } finally {
        await rm(temporary, { force: true })
      }
    },
    open: (hash) => createReadStream(fileOf(hash)),
  }
}

function checkHash(hash: string): string {
  if (hashPattern.test(hash)) return hash
  throw new LocalE2bError('bad_request', `'${hash}' is not a file hash: it must be 64 hexadecimal digits.`)
}

async function exists(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile()
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT')) return false
    throw error
  }
}
