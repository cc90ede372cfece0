import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

/** Lower-case hexadecimal SHA-256; a string counts as its UTF-8 bytes. */
export function sha256Hex(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** SHA-256 of everything that `chunks` yields, held in memory one chunk at a time. */
export async function sha256Stream(chunks: AsyncIterable<string | Uint8Array>): Promise<string> {
  return (await measure(chunks)).sha256
}

/** SHA-256 of a file's bytes, read as a stream. */
export async function sha256File(path: string): Promise<string> {
  return (await measureFile(path)).sha256
}

/** Digest and length of one reading of a file. */
export async function measureFile(path: string): Promise<{ readonly bytes: number; readonly sha256: string }> {
  return measure(createReadStream(path) as AsyncIterable<Uint8Array>)
}

async function measure(chunks: AsyncIterable<string | Uint8Array>): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of chunks) {
    hash.update(chunk)
    bytes += Buffer.byteLength(chunk)
  }
  return { bytes, sha256: hash.digest('hex') }
}
