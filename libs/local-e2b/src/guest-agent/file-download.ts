import { createReadStream, statSync, type Stats } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { errnoOf, RpcError } from './rpc-error.ts'

interface ByteRange {
  readonly start: number
  /** The last byte, inclusive. */
  readonly end: number
}

/** `GET /files`: streams a regular file, one byte range of it, or it gzipped. */
export async function sendFile(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const stats = fileStats(path)
  const range = parseRange(request.headers.range, stats.size)
  response.setHeader('content-type', 'application/octet-stream')
  response.setHeader('last-modified', stats.mtime.toUTCString())
  response.setHeader('vary', 'accept-encoding')
  if (range === 'unsatisfiable') {
    response.writeHead(416, { 'content-range': `bytes */${stats.size}`, 'content-length': 0 }).end()
    return
  }
  const gzip = range === undefined && stats.size > 0 && acceptsGzip(request.headers['accept-encoding'])
  if (gzip) {
    response.writeHead(200, { 'content-encoding': 'gzip' })
    await pipeline(createReadStream(path), createGzip(), response)
    return
  }
  const { start, end } = range ?? { start: 0, end: stats.size - 1 }
  response.setHeader('accept-ranges', 'bytes')
  response.setHeader('content-length', end - start + 1)
  if (range !== undefined) response.setHeader('content-range', `bytes ${start}-${end}/${stats.size}`)
  response.writeHead(range === undefined ? 200 : 206)
  if (end < start || request.method === 'HEAD') {
    response.end()
    return
  }
  // A file that grows meanwhile must not send more than was promised.
  await pipeline(createReadStream(path, { start, end }), response)
}

/** One range of `bytes=`; several or malformed ones are ignored, as HTTP allows. */
export function parseRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  if (first === '') return Number(last) === 0 || size === 0 ? 'unsatisfiable' : { start: Math.max(0, size - Number(last)), end: size - 1 }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return undefined
  return start >= size ? 'unsatisfiable' : { start, end }
}

/** Whether an `Accept-Encoding` names gzip with a weight above zero. */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  const offered = (Array.isArray(header) ? header.join(',') : (header ?? '')).split(',').map((item) => item.trim().toLowerCase())
  return offered.some((item) => /^(?:gzip|x-gzip|\*)(?:\s*;\s*q=(?!0(?:\.0*)?$).*)?$/.test(item))
}

function fileStats(path: string): Stats {
  let stats: Stats
  try {
    stats = statSync(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') throw new RpcError('not_found', `path '${path}' does not exist`, { cause: error })
    throw error
  }
  if (stats.isDirectory()) throw new RpcError('invalid_argument', `path '${path}' is a directory`)
  if (!stats.isFile()) throw new RpcError('invalid_argument', `path '${path}' is not a regular file`)
  return stats
}
