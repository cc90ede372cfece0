import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, prettyJson } from './canonical-json.ts'
import { InventoryError } from './inventory-error.ts'

const dump = `
import json, sys
for line in sys.stdin:
    value = json.loads(line)
    print(json.dumps([
        json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True),
        json.dumps(value, sort_keys=True, indent=2, ensure_ascii=True) + "\\n",
    ]))
`

function pythonTexts(values: readonly unknown[]): string[][] {
  const input = values.map((value) => JSON.stringify(value)).join('\n')
  const output = execFileSync('python3', ['-c', dump], { input, encoding: 'utf8' })
  return output.trimEnd().split('\n').map((line) => JSON.parse(line) as string[])
}

const awkward: readonly unknown[] = [
  null,
  true,
  0,
  -0,
  -17,
  Number.MAX_SAFE_INTEGER,
  '',
  '"\\/\b\f\n\r\t',
  '\u0000\u001f ~\u007f\u0080\u00e9\u2028\u2029\ufffd\uffff',
  '\u{1f600}\u{10ffff}',
  '\ud800 alone',
  [],
  {},
  [[], {}, [{}]],
  { b: 1, a: 2, B: 3, '': 4, 10: 5, 9: 6, 'a.b': 7, a0: 8 },
  { '\uffff': 1, '\u{10000}': 2, '\ue000': 3, '\u{1f600}': 4, '\ud7ff': 5 },
  { 'x\uffff': 1, 'x\u{10000}': 2, 'x\u{10001}': 3, '\u{10000}\u{10001}': 4, '\u{10000}\uffff': 5 },
  { '\ud800': 1, '\ud800\udc00': 2, '\ue000': 3, '\udc00': 4 },
]

describe('canonicalJson', () => {
  it('writes what Python writes, byte for byte, for awkward values', () => {
    const expected = pythonTexts(awkward)
    expect(awkward.map((value) => [canonicalJson(value), prettyJson(value)])).toEqual(expected)
  })

  it('writes what Python writes for 400 generated values', () => {
    const text = fc.string({ unit: 'binary', maxLength: 8 })
    const leaf = fc.oneof(text, fc.maxSafeInteger(), fc.boolean(), fc.constant(null))
    const tree = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('value'), { maxLength: 5 }), fc.dictionary(text, tie('value'), { maxKeys: 6 })),
    })).value
    const values = fc.sample(tree, { numRuns: 400, seed: 20_240_611 })
    expect(values.map((value) => [canonicalJson(value), prettyJson(value)])).toEqual(pythonTexts(values))
  })

  it('keeps a member that is called __proto__', () => {
    expect(canonicalJson(JSON.parse('{"__proto__":1,"a":2}'))).toBe('{"__proto__":1,"a":2}')
  })

  it.each([
    [{ score: [0.5] }, '$.score[0]', 'fraction'],
    [{ size: 2 ** 53 }, '$.size', 'too large'],
    [{ a: { b: undefined } }, '$.a.b', 'undefined'],
    [new Array(2), '$[0]', 'undefined'],
    [Number.NaN, '$', 'NaN'],
    [{ at: new Date(0) }, '$.at', 'an instance of Date'],
    [{ big: 1n }, '$.big', 'bigint'],
  ])('refuses %o with its place and the reason', (value, place, reason) => {
    expect(() => canonicalJson(value)).toThrow(InventoryError)
    expect(() => canonicalJson(value)).toThrow(`The value at ${place} `)
    expect(() => canonicalJson(value)).toThrow(reason)
  })
})

describe('prettyJson', () => {
  it('allows fractions and ends with one newline', () => {
    expect(prettyJson({ b: 0.25, a: [1, 'é'] })).toBe('{\n  "a": [\n    1,\n    "\\u00e9"\n  ],\n  "b": 0.25\n}\n')
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, undefined])('refuses %s, which JSON does not have', (value) => {
    expect(() => prettyJson({ value })).toThrow('The value at $.value is')
  })
})
