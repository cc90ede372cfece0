import { Transform } from 'node:stream'

/** Replaces the token by as many stars, so that no length changes; returns the same buffer when it holds none. */
export function maskToken(data: Buffer, token: Buffer): Buffer {
  let at = data.indexOf(token)
  if (at < 0) return data
  const masked = Buffer.from(data)
  for (; at >= 0; at = masked.indexOf(token, at + token.length)) masked.fill('*', at, at + token.length)
  return masked
}

/** Masks the token in a stream, also where two chunks meet; holds back only an end that could begin the token. */
export function tokenMask(token: string): Transform {
  const needle = Buffer.from(token)
  let held: Buffer = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const data = maskToken(held.length === 0 ? chunk : Buffer.concat([held, chunk]), needle)
      const heldLength = beginningAtEnd(data, needle)
      held = data.subarray(data.length - heldLength)
      done(null, data.subarray(0, data.length - heldLength))
    },
    flush(done) {
      done(null, held)
    },
  })
}

/** Length of the longest end of `data` that is a proper beginning of `needle`. */
function beginningAtEnd(data: Buffer, needle: Buffer): number {
  for (let length = Math.min(needle.length - 1, data.length); length > 0; length--) {
    if (data.subarray(data.length - length).equals(needle.subarray(0, length))) return length
  }
  return 0
}
