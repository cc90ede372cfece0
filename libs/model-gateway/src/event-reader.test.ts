import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventReader } from './event-reader.ts'

const stream = 'event: a\ndata: {"x": "ü\u{1f600}"}\n\ndata:one\r\ndata: two\r\n\r\n: comment\n\ndata: [DONE]\n\ndata: unfinished'

function read(pieces: readonly Buffer[]): { raw: string; data: string }[] {
  const reader = new EventReader()
  const events = pieces.flatMap((piece) => reader.push(piece))
  const rest = reader.rest()
  return [...events, ...(rest === undefined ? [] : [rest])].map(({ raw, data }) => ({ raw: raw.toString(), data }))
}

describe('an event reader', () => {
  it('tells data and bytes of every event', () => {
    const events = read([Buffer.from(stream)])
    expect(events.map(({ data }) => data)).toEqual(['{"x": "ü\u{1f600}"}', 'one\ntwo', '', '[DONE]', 'unfinished'])
    expect(events.map(({ raw }) => raw).join('')).toBe(stream)
  })

  it('tells the same wherever the pieces are cut', () => {
    const bytes = Buffer.from(stream)
    const whole = read([bytes])
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 8 }), (cuts) => {
        const edges = [0, ...cuts.sort((left, right) => left - right), bytes.length]
        expect(read(edges.slice(1).map((end, index) => bytes.subarray(edges[index], end)))).toEqual(whole)
      }),
    )
    expect(read(Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(whole)
  })

  it('gives an event out as soon as its blank line is there', () => {
    const reader = new EventReader()
    expect(reader.push(Buffer.from('data: a\n'))).toEqual([])
    expect(reader.push(Buffer.from('\ndata: b'))).toHaveLength(1)
  })
})
