import type { Usage } from './script.ts'

/** What all three kinds of requests have in common. */
export interface ModelRequest {
  readonly model: string
  readonly isStreamed: boolean
  /** OpenAI chat: whether the stream ends with a chunk that holds the usage. */
  readonly wantsUsage: boolean
  /** Every text in it, pictures left out. */
  readonly texts: readonly string[]
}

/** Reads a request's body; undefined when it is no JSON object with a model. */
export function readModelRequest(body: string): ModelRequest | undefined {
  const value = parseJson(body)
  if (!isRecord(value) || typeof value['model'] !== 'string') return undefined
  const streamOptions = value['stream_options']
  return {
    model: value['model'],
    isStreamed: value['stream'] === true,
    wantsUsage: isRecord(streamOptions) && streamOptions['include_usage'] === true,
    texts: [...textsOf(value)],
  }
}

/** Pictures are data addresses or bare base64, both without a space over a long way. */
const longestWord = 10_000

function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    const isPicture = value.startsWith('data:') || (value.length > longestWord && !/\s/.test(value.slice(0, longestWord)))
    if (!isPicture) yield value
  } else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) yield* textsOf(part)
  }
}

/** A quarter of the characters: near enough for whoever adds tokens up. */
export function computedUsage(texts: readonly string[], answer: string): Usage {
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  return { input_tokens: Math.ceil(characters / 4), output_tokens: Math.ceil(answer.length / 4) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
