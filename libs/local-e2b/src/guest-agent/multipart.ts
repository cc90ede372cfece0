import { RpcError } from './rpc-error.ts'

export interface FormPart {
  readonly name: string
  readonly fileName: string | undefined
  /** Must be read to its end before the next part. */
  readonly content: AsyncIterable<Buffer>
}

const longestHead = 16 * 1024
const lineBreak = '\r\n'

export function boundaryOf(contentType: string): string {
  const [, quoted, plain] = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) throw new RpcError('invalid_argument', 'the form has no boundary')
  return boundary
}

/** Parts of a `multipart/form-data` body (RFC 7578), read as a stream: a part of any size needs little memory. */
export async function* readParts(body: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<FormPart> {
  const reader = new DelimitedReader(body)
  const delimiter = Buffer.from(`${lineBreak}--${boundary}`)
  // The first delimiter has no line break of its own when there is no preamble.
  reader.prepend(Buffer.from(lineBreak))
  await skip(reader.until(delimiter))
  for (;;) {
    const rest = await collect(reader.until(Buffer.from(lineBreak)), longestHead)
    if (rest.startsWith('--')) return
    const head = await collect(reader.until(Buffer.from(lineBreak + lineBreak)), longestHead)
    const content = reader.until(delimiter)
    yield { ...parseHead(head), content }
    await skip(content)
  }
}

class DelimitedReader {
  readonly #chunks: AsyncIterator<Buffer>
  #held: Buffer = Buffer.alloc(0)

  constructor(body: AsyncIterable<Buffer>) {
    this.#chunks = body[Symbol.asyncIterator]()
  }

  prepend(bytes: Buffer): void {
    this.#held = Buffer.concat([bytes, this.#held])
  }

  /** Yields what comes before the delimiter and eats the delimiter; a body that ends first is damaged. */
  async *until(delimiter: Buffer): AsyncGenerator<Buffer> {
    for (;;) {
      const at = this.#held.indexOf(delimiter)
      if (at >= 0) {
        const before = this.#held.subarray(0, at)
        this.#held = this.#held.subarray(at + delimiter.length)
        if (before.length > 0) yield before
        return
      }
      // The last bytes may be the beginning of the delimiter.
      const safe = Math.max(0, this.#held.length - delimiter.length + 1)
      const before = this.#held.subarray(0, safe)
      this.#held = this.#held.subarray(safe)
      if (before.length > 0) yield before
      const next = await this.#chunks.next()
      if (next.done === true) throw new RpcError('invalid_argument', 'the form ends in the middle of a part')
      this.#held = this.#held.length === 0 ? next.value : Buffer.concat([this.#held, next.value])
    }
  }
}

async function skip(chunks: AsyncGenerator<Buffer>): Promise<void> {
  while ((await chunks.next()).done !== true);
}

async function collect(chunks: AsyncIterable<Buffer>, limit: number): Promise<string> {
  let text = ''
  for await (const chunk of chunks) {
    text += chunk.toString('utf8')
    if (text.length > limit) throw new RpcError('invalid_argument', 'a part of the form has too long a head')
  }
  return text
}

function parseHead(head: string): { name: string; fileName: string | undefined } {
  const disposition = /^content-disposition:\s*form-data(.*)$/im.exec(head)?.[1] ?? ''
  return { name: parameter(disposition, 'name') ?? '', fileName: parameter(disposition, 'filename') }
}

/** Browsers and fetch escape only quotes and line breaks, by percent codes; RFC 5987 values are decoded whole. */
function parameter(disposition: string, name: string): string | undefined {
  const extended = new RegExp(`;\\s*${name}\\*=utf-8''([^;\\s]+)`, 'i').exec(disposition)?.[1]
  if (extended !== undefined) return decodeURIComponent(extended)
  const plain = new RegExp(`;\\s*${name}="((?:[^"\\\\]|\\\\.)*)"`, 'i').exec(disposition)?.[1]
  return plain?.replace(/\\(["\\])/g, '$1').replace(/%22/g, '"').replace(/%0D/gi, '\r').replace(/%0A/gi, '\n')
}
