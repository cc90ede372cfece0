import { asBytes } from './patterns.ts'
import { scanRules } from './scan-rules.ts'
import { type Finding, RedactionScanner } from './scanner.ts'
import type { Secret } from './secret.ts'

export interface SecretScanner {
  /** What a redactor would hide in a whole text, in order; offsets count UTF-8 bytes. */
  scanText(text: string): readonly Finding[]
  /** The same for a stream of bytes, read to its end; rejects when the stream breaks. */
  scan(stream: AsyncIterable<Uint8Array | string>): Promise<readonly Finding[]>
}

/** Finds secrets in all the forms that `createRedactor` hides, replaces nothing and never gives a value out. */
export function createScanner(secrets: readonly Secret[]): SecretScanner {
  const rules = scanRules(secrets)
  return {
    scanText: (text) => {
      const findings: Finding[] = []
      const scanner = new RedactionScanner(rules, (finding) => findings.push(finding))
      scanner.push(asBytes(text))
      scanner.end()
      return findings
    },
    scan: async (stream) => {
      const findings: Finding[] = []
      const scanner = new RedactionScanner(rules, (finding) => findings.push(finding))
      for await (const chunk of stream) scanner.push(Buffer.from(chunk as Uint8Array).toString('latin1'))
      scanner.end()
      return findings
    },
  }
}
