import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedactor } from './redactor.ts'
import { createScanner } from './secret-scanner.ts'
import { secret } from './secret.ts'

const hex = '0123456789abcdef'.repeat(3)
const word = 'AbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefgh'

/** Label and an invented example of every shape. */
const tokens: readonly (readonly [string, string])[] = [
  ['E2B key', `e2b_${hex.slice(0, 40)}`],
  ['attempt key', `osw-${hex}`],
  ['model key', `sk-proj-${word}`],
  ['model key', `gsk_${word}`],
  ['AWS access key', 'AKIAABCDEFGHIJKLMNOP'],
  ['Google API key', `AIza${word.slice(0, 35)}`],
  ['Google token', `ya29.${word}`],
  ['Google client secret', `GOCSPX-${word.slice(0, 28)}`],
  ['GitHub token', `ghp_${word.slice(0, 36)}`],
  ['GitHub token', `github_pat_${word}`],
  ['Hugging Face token', `hf_${word.slice(0, 34)}`],
  ['JSON web token', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${word}`],
  ['private key', `-----BEGIN RSA PRIVATE KEY-----\n${word}\n${word}\n`],
  ['private key', `-----BEGIN PRIVATE KEY-----\\n${word}\\n${word}\\n`],
]
const prefixed = tokens.filter(([label]) => !['JSON web token', 'private key'].includes(label))
const byShape = createRedactor([])
const scanner = createScanner([])

async function through(text: string, cuts: readonly number[]): Promise<string> {
  const bytes = Buffer.from(text)
  const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((left, right) => left - right), bytes.length]
  const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end))
  return (await buffer(Readable.from(chunks).pipe(byShape.redactStream()))).toString()
}

describe('what looks like a token', () => {
  it.each(tokens)('is hidden as %s', (label, token) => {
    expect(byShape.redactText(`see ${token}, and more`)).toBe('see [secret token], and more')
    expect(scanner.scanText(`see ${token}, and more`)).toEqual([{ label, offset: 4 }])
  })

  it.each([
    ['a percent-encoded sign', '%3D', ''],
    ['a line end in JSON', '\\n', ''],
    ['an escaped character in JSON', '\\u003d', ''],
    ['the colour of a terminal', '\u001b[31m', '\u001b[0m'],
    ['a quote in JSON', '\\"', '\\"'],
  ])('is hidden after %s', (_, before, after) => {
    // A private key takes backslashes behind it along, since its own line ends may be written with them.
    for (const [, token] of tokens.filter(([label]) => label !== 'private key')) expect(byShape.redactText(`text${before}${token}${after}`)).toBe(`text${before}[secret token]${after}`)
  })

  it.each(prefixed)('is hidden as %s when every byte of its prefix is percent-encoded', (_, token) => {
    const length = /^(?:e2b_|osw-|sk-|gsk_|AKIA|AIza|ya29\.|GOCSPX-|ghp_|github_pat_|hf_)/.exec(token)?.[0].length ?? 0
    const encoded = Array.from(token.slice(0, length), (character) => `%${character.charCodeAt(0).toString(16)}`).join('')
    expect(byShape.redactText(`key=${encoded}${token.slice(length)}&x=1`)).toBe('key=[secret token]&x=1')
  })

  it.each([...prefixed, ...tokens.filter(([label]) => label === 'private key')])('is hidden as %s within base64, wherever in it', (label, token) => {
    for (const encoding of ['base64', 'base64url'] as const) {
      for (const offset of [0, 1, 2, 3, 4]) {
        const encoded = Buffer.from(`${'?'.repeat(offset)}${token} tail`).toString(encoding)
        const output = byShape.redactText(`<${encoded}>`)
        expect(output).toMatch(/^<.*\[secret token\]>$/)
        expect(output.length).toBeLessThan(token.startsWith('-----') ? 60 : 30)
        expect(scanner.scanText(encoded)[0]?.label).toBe(label)
      }
    }
  })

  it.each([
    ['Authorization: Bearer abc.DEF-123_456~789+0/=', 'Authorization: Bearer [secret token]'],
    ['authorization=bearer%20abcdefghijklmnopqrst&a=b', 'authorization=bearer%20[secret token]&a=b'],
    ['{"X-API-Key": "abcdefghijklmnopqrst"}', '{"X-API-Key": "[secret token]"}'],
    ['{\\"x-access-token\\":\\"abcdefghijklmnopqrst\\"}', '{\\"x-access-token\\":\\"[secret token]\\"}'],
    ['e2b-traffic-access-token: abcdefghijklmnopqrst', 'e2b-traffic-access-token: [secret token]'],
    ['aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'aws_secret_access_key = [secret token]'],
  ])('is hidden after the name that announces it, which stays: %s', (text, expected) => {
    expect(byShape.redactText(text)).toBe(expected)
    expect(scanner.scanText(text)).toEqual([expect.objectContaining({ offset: expected.indexOf('[secret') }) as unknown])
  })

  it('is not seen in ordinary text', () => {
    const text = 'task-0123456789abcdef01234567 the bearer of bad news, Bearer auth, x-api-key: none, eyJ. -----BEGIN CERTIFICATE----- AKIA hf_model sk-learn risk-assessment-of-everything-here %sk-%s'
    expect(byShape.redactText(text)).toBe(text)
    expect(scanner.scanText(text)).toEqual([])
  })
})

describe('any cut', () => {
  const part = fc.constantFrom(
    ...tokens.map(([, token]) => token),
    ...tokens.map(([, token]) => Buffer.from(`xy${token}`).toString('base64')),
    ...['Bearer ', 'x-api-key: "', 'eyJ', 'sk-', 'a', '-----BEGIN ', '%3D', '\\n', '\n', '\r', '.', 'ü'],
  )

  it('gives the same text, in which nothing is found any more', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), fc.array(fc.nat(2_000), { maxLength: 6 }), async (parts, cuts) => {
        expect(await through(parts.join(''), cuts)).toBe(byShape.redactText(parts.join('')))
        const spaced = parts.join(' ')
        expect(scanner.scanText(await through(spaced, cuts))).toEqual([])
      }),
      { numRuns: 300, seed: 11 },
    )
  })

  it('gives the same findings, in a stream as in a whole text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 8 }), fc.integer({ min: 1, max: 90 }), async (parts, size) => {
        const bytes = Buffer.from(parts.join(''))
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))
        expect(await scanner.scan(Readable.from(chunks))).toEqual(scanner.scanText(bytes.toString()))
      }),
      { numRuns: 200, seed: 12 },
    )
  })
})

describe('createScanner', () => {
  it('tells declared secrets by their label and byte offset, in every form, and never a value', async () => {
    const value = 'p+q/r"7?ü s\\z~K'
    const own = createScanner([secret(value, 'model key')])
    const text = `ü ${value} ${encodeURIComponent(value)} ${JSON.stringify(value)} ${Buffer.from(value).toString('base64')}`
    const findings = await own.scan(Readable.from([Buffer.from(text)]))
    expect(findings).toHaveLength(4)
    expect(findings[0]).toEqual({ label: 'model key', offset: 3 })
    expect(JSON.stringify(findings)).not.toContain(value.slice(0, 5))
  })

  it('rejects when the stream breaks', async () => {
    const broken = new Readable({ read() { this.destroy(new Error('disk gone')) } })
    await expect(scanner.scan(broken)).rejects.toThrow('disk gone')
  })
})

describe('a long text', () => {
  const all = createRedactor([secret('\\\\\\\\\\\\\\\\x', 'backslashes'), secret('aaaaaaaaaaaaaaaaaaaab', 'almost')])

  function expectThrough(piece: string, bytes: number): void {
    expect(all.redactText(`${piece.repeat(Math.ceil(bytes / piece.length))} sk-${word}`)).toMatch(/\[secret token\]$/)
  }

  it.each(['a log line with words and 12345 numbers\n', 'sk-aaaaaaaaaaaaaaaa ', 'A%41'])('of 20 MB of %j is gone through to its end', (piece) => expectThrough(piece, 20_000_000))

  it.each(['a', '\\', '%', 'sk-', 'Bearer    ', '-----BEGIN ', 'eyJaaaa', 'x-api-key:    "', 'c2st', '\\u0073', 'AKIA'])(
    'of 2 MB of %j, which nearly matches everywhere, is gone through to its end',
    (piece) => expectThrough(piece, 2_000_000),
  )
})
