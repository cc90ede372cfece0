import { appendFile, closeSync, constants, fstatSync, ftruncate, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { ModelGatewayError } from './model-gateway-error.ts'

const append = promisify(appendFile)
const truncate = promisify(ftruncate)

/** `model-calls.jsonl` of one attempt: whole lines, appended in the order of their coming. */
export class CallsFile {
  readonly #descriptor: number
  #length: number
  #pending: string[] = []
  #writing: Promise<void> | undefined
  #failure: unknown

  /**
   * Opened before the attempt starts and never by its path again, and not through a link: the attempt can write in the folder, and must
   * not choose what is written to.
   */
  constructor(path: string) {
    const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants
    this.#descriptor = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o644)
    this.#length = fstatSync(this.#descriptor).size
  }

  add(line: object): void {
    this.#pending.push(`${JSON.stringify(line)}\n`)
    this.#writing ??= this.#write()
  }

  /** Writes what is left and closes the file; throws when lines are lost. */
  async close(): Promise<void> {
    await this.#writing
    if (this.#pending.length > 0) await this.#write()
    closeSync(this.#descriptor)
    if (this.#pending.length === 0) return
    const count = this.#pending.length
    throw new ModelGatewayError(
      'write_failed',
      `${count} model call${count === 1 ? '' : 's'} of this attempt could not be written to model-calls.jsonl; free space on the disk and run the attempt again.`,
      this.#failure,
    )
  }

  /** Never rejects: what could not be written stays pending and is tried again with the next line and at the end. */
  async #write(): Promise<void> {
    try {
      for (let text = this.#pending.join(''); text !== ''; text = this.#pending.join('')) {
        const count = this.#pending.length
        await append(this.#descriptor, text)
        this.#length += Buffer.byteLength(text)
        this.#pending.splice(0, count)
      }
    } catch (error) {
      this.#failure = error
      await truncate(this.#descriptor, this.#length).catch((second: unknown) => {
        this.#failure = new AggregateError([error, second])
      })
    } finally {
      this.#writing = undefined
    }
  }
}
