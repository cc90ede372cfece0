import { Transform, type TransformCallback } from 'node:stream'
import { asBytes } from './patterns.ts'
import { scanRules, type ScanRules } from './scan-rules.ts'
import { RedactionScanner } from './scanner.ts'
import type { Secret } from './secret.ts'

export interface Redactor {
  /** Replaces every secret in a whole text. */
  redactText(text: string): string
  /** A byte stream that does the same, wherever the chunks are cut; it holds back at most one secret's length of the last line. */
  redactStream(): Transform
}

/** Knows the secrets in plain, percent-encoded, JSON-escaped and base64 form, and token-shaped strings besides. */
export function createRedactor(secrets: readonly Secret[]): Redactor {
  const rules = scanRules(secrets)
  return {
    redactText: (text) => redactWhole(rules, text),
    redactStream: () => new RedactingTransform(rules),
  }
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
