import { describe, expect, it } from 'vitest'
import { baseKey, forcedLayerId, stepKey } from './layer-key.ts'

const run = { type: 'RUN', args: ['true'], filesHash: null }

describe('a layer key', () => {
  it('is the same for the same past and step', () => {
    expect(stepKey('a', run)).toBe(stepKey('a', { ...run, args: [...run.args] }))
    expect(stepKey('a', run)).toMatch(/^[0-9a-f]{32}$/)
  })

  it.each([
    ['past', stepKey('b', run)],
    ['type', stepKey('a', { ...run, type: 'USER' })],
    ['arguments', stepKey('a', { ...run, args: ['tr', 'ue'] })],
    ['files', stepKey('a', { ...run, filesHash: 'f' })],
    ['force', forcedLayerId(stepKey('a', run), 'build')],
  ])('changes with the %s', (_, other) => {
    expect(other).not.toBe(stepKey('a', run))
  })

  it('of a base changes with each part of it', () => {
    const base = { suite: 's', variant: 'v', packages: ['p'], aptOptions: [], dpkgOptions: [] }
    expect(new Set([baseKey(base), baseKey({ ...base, packages: ['p', 'q'] }), baseKey({ ...base, aptOptions: ['p'] })]).size).toBe(3)
  })
})
