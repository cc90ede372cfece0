/** Hides exact texts in bytes: the real keys in every answer, the endpoints' hosts in errors. */
export class Mask {
  readonly #needles: readonly Buffer[]

  constructor(texts: readonly string[]) {
    this.#needles = texts.map((text) => Buffer.from(text)).sort((left, right) => right.length - left.length)
  }

  /** With stars of the same length; the same buffer when it holds none. */
  bytes(data: Buffer): Buffer {
    let masked = data
    for (const needle of this.#needles) {
      for (let at = masked.indexOf(needle); at >= 0; at = masked.indexOf(needle, at + needle.length)) {
        if (masked === data) masked = Buffer.from(data)
        masked.fill('*', at, at + needle.length)
      }
    }
    return masked
  }

  readonly text = (text: string): string => this.bytes(Buffer.from(text)).toString()

  stream(): MaskStream {
    return new MaskStream(this, this.#needles)
  }
}

/** Masks what comes in pieces; holds back only an end that may be the beginning of a needle. */
export class MaskStream {
  readonly #mask: Mask
  readonly #needles: readonly Buffer[]
  #held: Buffer = Buffer.alloc(0)

  constructor(mask: Mask, needles: readonly Buffer[]) {
    this.#mask = mask
    this.#needles = needles
  }

  push(piece: Buffer): Buffer {
    const data = this.#mask.bytes(this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]))
    const certain = data.length - Math.max(0, ...this.#needles.map((needle) => beginningAtEnd(data, needle)))
    this.#held = data.subarray(certain)
    return data.subarray(0, certain)
  }

  end(): Buffer {
    return this.#held
  }
}

/** Length of the longest end of `data` that is a proper beginning of `needle`. */
function beginningAtEnd(data: Buffer, needle: Buffer): number {
  for (let length = Math.min(needle.length - 1, data.length); length > 0; length -= 1) {
    if (data.subarray(data.length - length).equals(needle.subarray(0, length))) return length
  }
  return 0
}
