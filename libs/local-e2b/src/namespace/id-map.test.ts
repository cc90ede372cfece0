import { describe, expect, it } from 'vitest'
import { findSpareRange, guestIdMap, manageIdMap } from './id-map.ts'

const alice = { uid: 1000, gid: 1001, name: 'alice' }
const texts = { subuidText: 'bob:100000:65536\nalice:165536:65536\n', subgidText: 'alice:265536:65536\n' }

describe('guestIdMap', () => {
  it('gives root\'s guests the shifted range', () => {
    const facts = { account: { uid: 0, gid: 0, name: 'root' }, rootShift: 200_000, subuidText: '', subgidText: '' }
    const ranges = [{ inside: 0, outside: 200_000, count: 65_536 }]
    expect(guestIdMap(facts)).toEqual({ users: ranges, groups: ranges })
  })

  it('gives an account\'s guests its spare ids and never its own', () => {
    expect(guestIdMap({ account: alice, rootShift: 1, ...texts })).toEqual({
      users: [{ inside: 0, outside: 165_536, count: 65_536 }],
      groups: [{ inside: 0, outside: 265_536, count: 65_536 }],
    })
  })

  it('names the file and the command when an account has no spare ids', () => {
    expect(() => guestIdMap({ account: alice, rootShift: 1, ...texts, subgidText: '' })).toThrow(/\/etc\/subgid.*usermod --add-subuids .* alice/)
  })
})

describe('manageIdMap', () => {
  it('puts the account first and guest id N at N + 1', () => {
    expect(manageIdMap({ account: alice, rootShift: 1, ...texts }).users).toEqual([
      { inside: 0, outside: 1000, count: 1 },
      { inside: 1, outside: 165_536, count: 65_535 },
    ])
  })
})

describe('findSpareRange', () => {
  it.each([
    ['alice:165536:65536', 165_536],
    ['1000:300000:65536', 300_000],
    ['alice:100000:1000\nalice:400000:70000', 400_000],
    ['alicex:1:65536', undefined],
    ['', undefined],
  ])('reads %j', (text, expected) => { expect(findSpareRange(text, alice)).toBe(expected) })
})
