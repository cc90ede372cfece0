import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { Redactor } from '@osworld-e2b/redaction'

export interface CaptureOptions {
  /** A child's output. It is always read as fast as it comes, so the child never waits for a disk. */
  readonly source: Readable
  /** Open for appending; closed at the end. */
  readonly file: FileHandle
  readonly redactor: Redactor
  /** Bytes that the file takes as they come. */
  readonly limitBytes: number
}

export interface CapturedOutput {
  /** Bytes of output with its secrets replaced. */
  readonly bytesSeen: number
  /** Those of them that are in the file. */
  readonly bytesKept: number
  readonly isCut: boolean
  /** Why the file misses what came after that, such as a full disk. */
  readonly writeProblem?: string
}

export interface OutputCapture {
  /** Resolves once all that was read is in the file and the file is closed; never rejects. */
  readonly done: Promise<CapturedOutput>
  /** Reads no further; `done` follows. */
  readonly stop: () => void
}

export const defaultOutputLimitBytes = 64 * 1024 * 1024

/** What is kept of the end beyond the limit: there a program says why it ended. */
const tailBytes = 64 * 1024

/**
 * Copies a child's output into its file while it runs, line by line and without secrets. Beyond the limit only the last
 * 64 KiB are kept, after a line that says how much was cut.
 */
export function captureOutput({ source, file, redactor, limitBytes }: CaptureOptions): OutputCapture {
  const writer = new LimitedWriter(file, limitBytes)
  const redacted = redactor.redactStream()
  const ended = new Promise<void>((resolve) => {
    redacted.on('data', (chunk: Buffer) => writer.take(chunk))
    redacted.once('end', resolve)
  })
  source.on('data', (chunk: Buffer) => redacted.write(chunk))
  // A stream that breaks or is stopped has no end of its own; what it gave so far still counts.
  source.once('close', () => redacted.end())
  source.once('end', () => redacted.end())
  source.on('error', () => redacted.end())
  return { done: ended.then(() => writer.end()), stop: () => source.destroy() }
}

class LimitedWriter {
  readonly #file: FileHandle
  readonly #limitBytes: number
  #writing: Promise<void> = Promise.resolve()
  #writeProblem: string | undefined
  #bytesSeen = 0
  #bytesWritten = 0
  #tail: Buffer[] = []
  #tailBytes = 0

  constructor(file: FileHandle, limitBytes: number) {
    this.#file = file
    this.#limitBytes = limitBytes
  }

  take(chunk: Buffer): void {
    const room = Math.max(0, this.#limitBytes - this.#bytesSeen)
    this.#bytesSeen += chunk.length
    if (room > 0) this.#write(chunk.subarray(0, room))
    if (chunk.length > room) this.#keepLast(chunk.subarray(room))
  }

  async end(): Promise<CapturedOutput> {
    this.#trimTail()
    const cutBytes = Math.max(0, this.#bytesSeen - this.#limitBytes) - this.#tailBytes
    const count = cutBytes.toString().replace(/\B(?=(?:\d{3})+$)/g, ',')
    if (cutBytes > 0) this.#write(Buffer.from(`\n[… ${count} bytes cut here …]\n`), 'mark')
    this.#write(Buffer.concat(this.#tail))
    await this.#writing
    await this.#file.close().catch((error: unknown) => this.#fail(error))
    const problem = this.#writeProblem
    return { bytesSeen: this.#bytesSeen, bytesKept: this.#bytesWritten, isCut: cutBytes > 0, ...(problem === undefined ? {} : { writeProblem: problem }) }
  }

  /** Trims only now and then, so that many small pieces cost no more than few large ones. */
  #keepLast(chunk: Buffer): void {
    this.#tail.push(chunk)
    this.#tailBytes += chunk.length
    if (this.#tailBytes > 2 * tailBytes) this.#trimTail()
  }

  #trimTail(): void {
    const last = Buffer.concat(this.#tail).subarray(-tailBytes)
    this.#tail = [last]
    this.#tailBytes = last.length
  }

  #write(chunk: Buffer, kind: 'output' | 'mark' = 'output'): void {
    if (chunk.length === 0) return
    this.#writing = this.#writing.then(async () => {
      if (this.#writeProblem !== undefined) return
      try {
        await this.#file.appendFile(chunk)
        if (kind === 'output') this.#bytesWritten += chunk.length
      } catch (error) {
        this.#fail(error)
      }
    })
  }

  #fail(error: unknown): void {
    this.#writeProblem ??= error instanceof Error ? error.message : String(error)
  }
}
