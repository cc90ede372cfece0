import { Transform, type TransformCallback } from 'node:stream'
import { asBytes, base64Patterns, writtenPattern, type BytePattern } from './patterns.ts'
import { RedactionError } from './redaction-error.ts'
import { RedactionScanner, type ScanRules } from './scanner.ts'
import type { Secret } from './secret.ts'

export interface Redactor {
  /** Replaces every secret in a whole text. */
  redactText(text: string): string
  /** A byte stream that does the same, wherever the chunks are cut; it holds back at most one secret's length of the last line. */
  redactStream(): Transform
}

/** A value this short stands in every text. */
const shortestSecret = 4

/** Key shapes that are secret whoever issued them: E2B keys, and `sk-` keys of model providers. */
const tokenSource = '(?<![A-Za-z0-9])(?:e2b_[0-9a-fA-F]{40}|sk-[A-Za-z0-9_-]{20,})'
const tokenDecisionLength = 44

/** Knows the secrets in plain, percent-encoded, JSON-escaped and base64 form, and token-shaped strings besides. */
export function createRedactor(secrets: readonly Secret[]): Redactor {
  const rules = rulesFor(secrets)
  return {
    redactText: (text) => redactWhole(rules, text),
    redactStream: () => new RedactingTransform(rules),
  }
}

function rulesFor(secrets: readonly Secret[]): ScanRules {
  const known = [...secrets].sort((left, right) => right.reveal().length - left.reveal().length)
  const patterns = known.map(patternsOf)
  const sources = patterns.map((forms, index) => `(?<s${index}>${forms.map(({ source }) => source).join('|')})`)
  const lengths = patterns.flat().map(({ maxLength }) => maxLength)
  return {
    expression: new RegExp([...sources, tokenSource].join('|'), 'g'),
    labels: known.map((value) => asBytes(value.toString())),
    decisionLength: Math.max(tokenDecisionLength, ...lengths),
    spansLines: known.some((value) => /\n/.test(value.reveal())),
  }
}

function patternsOf(value: Secret): BytePattern[] {
  const text = value.reveal()
  if (text.length < shortestSecret) {
    throw new RedactionError('too_short', `The secret "${value.label}" has under ${shortestSecret} characters, so hiding it would spoil every text; use a longer one.`)
  }
  return [writtenPattern(text), ...base64Patterns(text)]
}

function redactWhole(rules: ScanRules, text: string): string {
  const bytes = asBytes(text)
  const scanner = new RedactionScanner(rules)
  const redacted = scanner.push(bytes) + scanner.end()
  return redacted === bytes ? text : Buffer.from(redacted, 'latin1').toString('utf8')
}

class RedactingTransform extends Transform {
  readonly #scanner: RedactionScanner

  constructor(rules: ScanRules) {
    super()
    this.#scanner = new RedactionScanner(rules)
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    done(null, Buffer.from(this.#scanner.push(chunk.toString('latin1')), 'latin1'))
  }

  override _flush(done: TransformCallback): void {
    done(null, Buffer.from(this.#scanner.end(), 'latin1'))
  }
}
