import { chownSync, createWriteStream, statSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { basename, dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { GuestAccount } from './accounts.ts'
import { isThere, makeFolders, resolvePath } from './guest-path.ts'
import { boundaryOf, readParts } from './multipart.ts'
import { errnoOf, RpcError } from './rpc-error.ts'

export interface WrittenFile {
  readonly path: string
  readonly name: string
  readonly type: 'file'
}

/** `POST /files`: a form whose parts name their paths, or one file's bytes for the path of the query; either gzipped or plain. */
export async function receiveFiles(request: IncomingMessage, queryPath: string | undefined, account: GuestAccount): Promise<readonly WrittenFile[]> {
  const contentType = request.headers['content-type'] ?? ''
  const body = plainBody(request)
  if (!contentType.startsWith('multipart/')) return [await writeUpload(queryPath, body, account)]
  const written: WrittenFile[] = []
  for await (const part of readParts(body, boundaryOf(contentType))) {
    if (part.name === 'file') written.push(await writeUpload(queryPath ?? part.fileName, Readable.from(part.content), account))
  }
  if (written.length === 0) throw new RpcError('invalid_argument', 'the form holds no part named file')
  return written
}

function plainBody(request: IncomingMessage): Readable {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return request
  if (encoding !== 'gzip') throw new RpcError('invalid_argument', `content encoding ${encoding} is not offered; send gzip or plain bytes`)
  const gunzip = createGunzip()
  request.on('error', (error) => gunzip.destroy(error))
  return request.pipe(gunzip)
}

async function writeUpload(named: string | undefined, content: Readable, account: GuestAccount): Promise<WrittenFile> {
  if (named === undefined || named === '') throw new RpcError('invalid_argument', 'the upload names no path')
  const path = resolvePath(named, account)
  if (isThere(path) && isFolder(path)) throw new RpcError('invalid_argument', `path is a directory: ${path}`)
  makeFolders(dirname(path), account)
  try {
    // Without O_NOFOLLOW, as on E2B: a link is written through.
    await pipeline(content, createWriteStream(path, { mode: 0o644, flags: 'w' }))
  } catch (error) {
    if (errnoOf(error)?.startsWith('Z_') === true) throw new RpcError('invalid_argument', 'the body is not valid gzip', { cause: error })
    throw error
  }
  chownSync(path, account.uid, account.gid)
  return { path, name: basename(path), type: 'file' }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
