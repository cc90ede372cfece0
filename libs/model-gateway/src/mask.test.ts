import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Mask } from './mask.ts'

describe('a mask', () => {
  const mask = new Mask(['abab', 'abc'])

  it('puts stars of the same length, and leaves other bytes as they are', () => {
    expect(mask.text('xababx abcabc ab a')).toBe('x****x ****** ab a')
    const bytes = Buffer.from([0xff, 0x00, 0x61])
    expect(mask.bytes(bytes)).toBe(bytes)
  })

  it('leaves no secret in a stream, and all lengths, wherever the pieces are cut', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[abcx]{0,6}$/), { maxLength: 8 }), (pieces) => {
        const stream = mask.stream()
        const out = Buffer.concat([...pieces.map((piece) => stream.push(Buffer.from(piece))), stream.end()]).toString()
        expect(out).not.toMatch(/abab|abc/)
        expect(out).toHaveLength(pieces.join('').length)
        expect(out.replaceAll('*', '')).toBe(Array.from(pieces.join('')).filter((_, index) => out[index] !== '*').join(''))
      }),
    )
  })
})
