import type { ModelApi, TokenCounts } from '@osworld-e2b/contracts'
import { tokensOf } from './tokens.ts'
import { errorOf, errorWord, isRecord } from './wire.ts'

type Fields = Readonly<Record<string, unknown>>

/** How a stream stands: `none` of its events was of the API, `begun`, `done`, or an error was told in it. */
export type StreamState = 'none' | 'begun' | 'done' | 'failed' | 'rejected'

/** Reads usage, end and errors out of the events of one streamed answer. */
export class StreamReading {
  readonly #api: ModelApi
  #usage: Fields | undefined
  state: StreamState = 'none'
  /** Word of the error that the stream told. */
  error: string | undefined

  constructor(api: ModelApi) {
    this.#api = api
  }

  /** Null unless the answer came to its end. */
  tokens(): TokenCounts | null {
    return this.state === 'done' ? tokensOf(this.#api, this.#usage) : null
  }

  /** Takes one event's data; true when it is the extra chunk that only tells the usage of a chat. */
  take(data: string): boolean {
    if (data === '[DONE]') this.#advance('done')
    const event = parsed(data)
    if (event === undefined) return false
    if (this.#api === 'openai_responses') this.#takeResponses(event)
    else if (this.#api === 'anthropic_messages') this.#takeMessages(event)
    else return this.#takeChat(event)
    return false
  }

  #advance(state: StreamState): void {
    const isFinal = this.state === 'failed' || this.state === 'rejected' || (this.state === 'done' && state === 'begun')
    if (!isFinal) this.state = state
  }

  #fail(body: unknown): void {
    this.error = errorWord(body)
    this.state = errorOf(body)?.['type'] === 'invalid_request_error' ? 'rejected' : 'failed'
  }

  #takeChat(event: Fields): boolean {
    if (isRecord(event['usage'])) this.#usage = event['usage']
    if (errorOf(event) !== undefined) this.#fail(event)
    const choices = event['choices']
    if (!Array.isArray(choices)) return false
    const isEnd = choices.some((choice) => isRecord(choice) && typeof choice['finish_reason'] === 'string')
    this.#advance(isEnd ? 'done' : 'begun')
    return choices.length === 0 && isRecord(event['usage'])
  }

  #takeResponses(event: Fields): void {
    const type = typeof event['type'] === 'string' ? event['type'] : ''
    const response = isRecord(event['response']) ? event['response'] : {}
    if (type === 'error') this.#fail(errorOf(event) === undefined ? { error: event } : event)
    else if (type === 'response.failed') this.#fail(response)
    else if (type === 'response.completed' || type === 'response.incomplete') this.#advance('done')
    else if (type.startsWith('response.')) this.#advance('begun')
    if (isRecord(response['usage'])) this.#usage = response['usage']
  }

  #takeMessages(event: Fields): void {
    const message = isRecord(event['message']) ? event['message'] : {}
    switch (event['type']) {
      case 'error':
        this.#fail(event)
        return
      case 'message_start':
        this.#advance('begun')
        this.#addUsage(message['usage'])
        return
      case 'message_delta':
        this.#addUsage(event['usage'])
        return
      case 'message_stop':
        this.#advance('done')
    }
  }

  /** Later counts are sums over the whole message and replace earlier ones; what they leave out stays. */
  #addUsage(usage: unknown): void {
    if (!isRecord(usage)) return
    const told = Object.entries(usage).filter(([, value]) => value !== null)
    this.#usage = { ...this.#usage, ...Object.fromEntries(told) }
  }
}

function parsed(data: string): Fields | undefined {
  if (!data.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(data)
    return isRecord(value) ? value : undefined
  } catch {
    // What is not JSON tells nothing; it is passed on all the same.
    return undefined
  }
}
