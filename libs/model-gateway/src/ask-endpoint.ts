import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { maxBodyBytes, type GatewayTimings } from './gateway-options.ts'

/** Shorter than a server's usual 5 s, so that a request seldom meets a connection that is just being closed. */
const idleConnectionMs = 4_000

export interface Connections {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

export function openConnections(): Connections {
  const options = { keepAlive: true, timeout: idleConnectionMs }
  return { http: new HttpAgent(options), https: new HttpsAgent(options) }
}

export interface Question {
  readonly url: URL
  readonly method: string
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
  readonly connections: Connections
  readonly timings: Pick<GatewayTimings, 'connectMs' | 'firstByteMs' | 'stallMs'>
  readonly signal: AbortSignal
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Whole, or for an event stream in pieces, of which the first is there already. */
  readonly body: Buffer | AsyncIterable<Buffer>
}

/** The endpoint did not answer, or not to the end; the message is a short text without an address. */
export class EndpointFault extends Error {
  /** False when there was no connection to send the request on. */
  readonly mayHaveArrived: boolean

  constructor(text: string, { cause, mayHaveArrived = true }: { readonly cause?: unknown; readonly mayHaveArrived?: boolean } = {}) {
    super(text, { cause })
    this.name = 'EndpointFault'
    this.mayHaveArrived = mayHaveArrived
  }
}

/** Sends one request and reads its answer; throws an `EndpointFault`, also from the pieces. Redirects are not followed, they could take the key elsewhere. */
export async function askEndpoint(question: Question): Promise<Reply> {
  const watch = watchOf(question)
  try {
    const response = await watch.answer()
    const { statusCode = 0, headers } = response
    const pieces = watch.pieces(response)
    const isStream = statusCode >= 200 && statusCode < 300 && /^text\/event-stream\b/i.test(headers['content-type'] ?? '')
    return { status: statusCode, headers, body: isStream ? await startedStream(pieces) : await wholeBody(pieces) }
  } catch (error) {
    throw watch.end(error)
  }
}

/** A header that cannot be sent, such as a key with a line end, is a fault as well. */
function watchOf(question: Question): Watch {
  try {
    return new Watch(question)
  } catch (error) {
    throw new EndpointFault(faultText(error), { cause: error, mayHaveArrived: false })
  }
}

/** One request under its time limits and its signal. */
class Watch {
  readonly #question: Question
  readonly #request: ClientRequest
  #response: IncomingMessage | undefined
  #timer: NodeJS.Timeout | undefined
  #broken: string | undefined
  #isConnected = false

  constructor(question: Question) {
    const { url, method, headers, body, connections, signal } = question
    const isTls = url.protocol === 'https:'
    const length = body.length > 0 || !['GET', 'HEAD'].includes(method) ? { 'content-length': body.length } : {}
    const options = { method, headers: { ...headers, ...length }, agent: isTls ? connections.https : connections.http }
    this.#question = question
    this.#request = isTls ? httpsRequest(url, options) : httpRequest(url, options)
    signal.addEventListener('abort', this.#onAbort)
    if (signal.aborted) this.#onAbort()
    else this.#request.end(body)
  }

  answer(): Promise<IncomingMessage> {
    const { connectMs, firstByteMs } = this.#question.timings
    this.#arm(connectMs, 'no connection in time')
    return new Promise((resolve, reject) => {
      this.#request.once('error', reject)
      this.#request.once('socket', (socket) => {
        const onConnected = (): void => {
          this.#isConnected = true
          this.#arm(firstByteMs, 'no answer in time')
        }
        if (socket.connecting) socket.once('connect', onConnected)
        else onConnected()
      })
      this.#request.once('response', (response) => {
        this.#response = response
        // From here on the response tells of every break, and the request may tell of it again.
        this.#request.on('error', () => undefined)
        resolve(response)
      })
    })
  }

  async *pieces(response: IncomingMessage): AsyncGenerator<Buffer> {
    const { stallMs } = this.#question.timings
    try {
      for await (const piece of response as AsyncIterable<Buffer>) {
        this.#disarm()
        yield piece
        this.#arm(stallMs, 'the answer stalled')
      }
    } catch (error) {
      throw this.end(error)
    } finally {
      this.end()
    }
  }

  /** Ends the watching; gives the fault that an error stands for. */
  end(error?: unknown): EndpointFault {
    this.#disarm()
    this.#question.signal.removeEventListener('abort', this.#onAbort)
    return error instanceof EndpointFault ? error : new EndpointFault(this.#broken ?? faultText(error), { cause: error, mayHaveArrived: this.#isConnected })
  }

  readonly #onAbort = (): void => this.#break('abandoned')

  #arm(ms: number, text: string): void {
    this.#disarm()
    this.#timer = setTimeout(() => this.#break(text), ms)
  }

  #disarm(): void {
    clearTimeout(this.#timer)
  }

  #break(text: string): void {
    this.#broken ??= text
    const victim = this.#response ?? this.#request
    victim.destroy(new EndpointFault(this.#broken, { mayHaveArrived: this.#isConnected }))
  }
}

/** Such as "ECONNRESET"; messages of the system and of TLS hold addresses. */
function faultText(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Z0-9_]+$/.test(code) ? code : 'no valid HTTP answer'
}

async function wholeBody(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const piece of pieces) {
    length += piece.length
    if (length > maxBodyBytes) throw new EndpointFault('an answer of more than 64 MiB')
    parts.push(piece)
  }
  return Buffer.concat(parts)
}

/** With its first piece at hand, so that an endpoint that breaks before it can be asked again. */
async function startedStream(pieces: AsyncGenerator<Buffer>): Promise<AsyncIterable<Buffer>> {
  const first = await pieces.next()
  return (async function* () {
    try {
      if (first.done === true) return
      yield first.value
      yield* pieces
    } finally {
      await pieces.return(undefined)
    }
  })()
}
