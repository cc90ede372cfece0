import type { IncomingMessage, ServerResponse } from 'node:http'
import { durationHeader } from './request.ts'
import { toRpcError } from './rpc-error.ts'

const finalFlag = 2
/** Clients give up on a stream that is silent for longer than they ask for. */
const longestSilenceMs = 50_000

/** The reply half of one Connect stream: envelopes, keepalives while it is silent, and one closing envelope. */
export class EventStream {
  readonly #response: ServerResponse
  readonly #keepalive: NodeJS.Timeout
  #open = true

  constructor(request: IncomingMessage, response: ServerResponse, keepaliveMessage: object) {
    this.#response = response
    const asked = durationHeader(request, 'keepalive-ping-interval', 1000) ?? longestSilenceMs
    this.#keepalive = setInterval(() => { this.send(keepaliveMessage) }, Math.min(asked, longestSilenceMs))
    response.once('close', () => { this.#stop() })
    response.writeHead(200, { 'content-type': 'application/connect+json' })
    response.flushHeaders()
  }

  /** Calls back once, when the client has left or the stream has ended. */
  onClose(listener: () => void): void {
    this.#response.once('close', listener)
  }

  /** Says whether the client keeps up; when not, `whenDrained` tells when it does again. */
  send(message: object): boolean {
    return this.#open ? this.#response.write(envelope(0, message)) : true
  }

  whenDrained(listener: () => void): void {
    this.#response.once('drain', listener)
  }

  end(): void {
    this.#finish({})
  }

  fail(error: unknown): void {
    const { code, message } = toRpcError(error)
    this.#finish({ error: { code, message } })
  }

  #finish(trailer: object): void {
    if (!this.#open) return
    this.#stop()
    this.#response.end(envelope(finalFlag, trailer))
  }

  #stop(): void {
    this.#open = false
    clearInterval(this.#keepalive)
  }
}

function envelope(flag: number, message: object): Buffer {
  const body = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(5)
  head.writeUInt8(flag, 0)
  head.writeUInt32BE(body.length, 1)
  return Buffer.concat([head, body])
}
