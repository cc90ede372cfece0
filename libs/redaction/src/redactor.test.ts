import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRedactor, type Redactor } from './redactor.ts'
import { secret } from './secret.ts'

const value = 'p+q/r"7?ü s\\z~K'
const label = '[secret model key]'
const redactor = createRedactor([secret(value, 'model key')])
const e2bKey = `e2b_${'0123456789abcdef'.repeat(3).slice(0, 40)}`
const modelKey = 'sk-proj-AbCdEfGhIjKlMnOpQrStUvWxYz_0123456789'

async function through(by: Redactor, chunks: readonly Uint8Array[]): Promise<string> {
  return (await buffer(Readable.from(chunks).pipe(by.redactStream()))).toString('utf8')
}

function base64At(offset: number, encoding: 'base64' | 'base64url'): string {
  return Buffer.from(`${'<'.repeat(offset)}${value}>>>`).toString(encoding)
}

const forms: readonly (readonly [string, string])[] = [
  ['plain', value],
  ['encodeURIComponent', encodeURIComponent(value)],
  ['lower-case percent', encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase())],
  ['every byte percent-encoded', Array.from(Buffer.from(value), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')],
  ['form encoding', new URLSearchParams([['k', value]]).toString().slice(2)],
  ['JSON', JSON.stringify(value).slice(1, -1)],
  ['ASCII JSON', JSON.stringify(value).slice(1, -1).replace('ü', '\\u00fc')],
  ...[0, 1, 2, 3].flatMap((offset) => [
    [`base64 at ${offset}`, base64At(offset, 'base64')] as const,
    [`base64url at ${offset}`, base64At(offset, 'base64url')] as const,
  ]),
  ['E2B key shape', e2bKey],
  ['model key shape', modelKey],
]

/** No five characters of a form that carry the secret may be left. */
function leaks(output: string, written: string): boolean {
  const carried = written === e2bKey || written === modelKey ? written : written.slice(5, -6)
  return Array.from({ length: carried.length - 4 }, (_, at) => carried.slice(at, at + 5)).some((part) => output.includes(part))
}

describe('redactText', () => {
  it.each(forms)('hides a secret in %s form', (_, written) => {
    const output = redactor.redactText(`{"before": 1} ${written} after`)
    expect(output).toMatch(/^\{"before": 1\} .*\[secret (?:model key|token)\].* after$/)
    expect(leaks(output, written)).toBe(false)
  })

  it('returns a text without secrets unchanged, also one that is not valid UTF-16', () => {
    const text = 'task-0123456789abcdef01234567 desk-ABCDEFGHIJKLMNOPQRSTUVWXYZ e2b_short sk-short \ud800 p+q'
    expect(redactor.redactText(text)).toBe(text)
  })

  it('names each secret by its own label, the longer one first where one begins like another', () => {
    const both = createRedactor([secret('abcdef', 'short'), secret('abcdef-ghi', 'long')])
    expect(both.redactText('abcdef-ghi abcdef- abcdef-ghi')).toBe('[secret long] [secret short]- [secret long]')
  })

  it('leaves the text around a secret byte for byte', () => {
    expect(redactor.redactText(`ä\u{1f600}${value}\r\n${value}€`)).toBe(`ä\u{1f600}${label}\r\n${label}€`)
  })

  it('knows token shapes without knowing any secret', () => {
    expect(createRedactor([]).redactText(`X_API_KEY=${e2bKey}; key ${modelKey}.`)).toBe('X_API_KEY=[secret token]; key [secret token].')
  })

  it('refuses a secret that stands in every text, without printing it', () => {
    expect(() => createRedactor([secret('abc', 'tiny key')])).toThrow(/^The secret "tiny key" has under 4 characters/)
  })
})

describe('redactStream', () => {
  it.each(forms)('hides a secret in %s form at every place where two chunks can meet', async (_, written) => {
    const bytes = Buffer.from(`head ü ${written} tail ${written}`)
    const expected = redactor.redactText(bytes.toString('utf8'))
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(await through(redactor, [bytes.subarray(0, cut), bytes.subarray(cut)])).toBe(expected)
    }
  })

  it.each(forms)('hides a secret in %s form that comes byte by byte', async (_, written) => {
    const bytes = Buffer.from(`${written}\n${written}`)
    expect(await through(redactor, Array.from(bytes, (byte) => Buffer.of(byte)))).toBe(redactor.redactText(bytes.toString('utf8')))
  })

  it('gives the same as redactText for 200 generated texts and cuts', async () => {
    const overlapping = createRedactor([secret('aab\nab', 'one'), secret('aabb', 'two'), secret(modelKey.slice(0, 12), 'three')])
    const part = fc.constantFrom('a', 'b', '\n', 'aab\nab', 'aabb', ' ', modelKey, modelKey.slice(0, 20), e2bKey, 'YWFiY', 'ü')
    const samples = fc.sample(fc.tuple(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(200), { maxLength: 5 })), { numRuns: 200, seed: 7 })
    for (const [parts, cuts] of samples) {
      const bytes = Buffer.from(parts.join(''))
      const edges = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((left, right) => left - right), bytes.length]
      const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end))
      expect(await through(overlapping, chunks)).toBe(overlapping.redactText(bytes.toString('utf8')))
    }
  })

  it.each([
    ['a token that is longer than any other and goes on over many chunks', `key sk-${'Ab1_'.repeat(100)}. end`, 'key [secret token]. end'],
    ['a word that only ends like a token begins', `${'desk'.repeat(40)}sk-${'b'.repeat(60)} end`, undefined],
  ])('treats %s alike at every place where it is cut', async (_, text, expected) => {
    const byShape = createRedactor([])
    const bytes = Buffer.from(text)
    for (let size = 1; size <= 60; size += 1) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_unused, index) => bytes.subarray(index * size, (index + 1) * size))
      expect(await through(byShape, chunks)).toBe(expected ?? text)
    }
  })

  it('passes bytes that are not text unchanged', async () => {
    const bytes = Buffer.from(Array.from({ length: 4_096 }, (_, index) => (index * 7) % 256))
    expect(await buffer(Readable.from([bytes.subarray(0, 1_001), bytes.subarray(1_001)]).pipe(redactor.redactStream()))).toEqual(bytes)
  })

  it('gives a whole line out before the next one comes', async () => {
    const stream = redactor.redactStream()
    stream.write(`ready ${value}\npartial`)
    const [first] = (await new Promise<unknown[]>((resolve) => stream.once('data', (...data: unknown[]) => resolve(data)))) as [Buffer]
    expect(first.toString()).toBe(`ready ${label}\n`)
    stream.end()
  })
})
