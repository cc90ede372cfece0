import { format, inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { secret } from './secret.ts'

const value = 'correct-horse-battery'
const key = secret(value, 'api key')

describe('a secret', () => {
  it.each([
    ['a template string', `key ${key as unknown as string}`],
    ['a joined list', ['key', key].join(' ')],
    ['JSON', JSON.stringify({ key })],
    ['JSON of a spread copy', JSON.stringify({ ...key })],
    ['inspect', inspect({ key }, { depth: 9, showHidden: true })],
    ['console formatting', format('%s %o %O %j', key, key, key, key)],
    ['an error message', new Error(`refused ${String(key)}`).message],
    ['a clone', inspect(structuredClone(key))],
    ['its property names', Reflect.ownKeys(key).map((name) => inspect(Reflect.get(key, name))).join()],
  ])('does not print its value in %s', (_, printed) => {
    expect(printed).not.toContain(value)
  })

  it('prints its label', () => {
    expect(String(key)).toBe('[secret api key]')
    expect(inspect([key])).toBe('[ [secret api key] ]')
    expect(JSON.stringify([key])).toBe('["[secret api key]"]')
  })

  it('gives its value out on demand', () => {
    expect(key.reveal()).toBe(value)
  })

  it('is refused when empty', () => {
    expect(() => secret('', 'api key')).toThrow('The secret "api key" is empty')
  })
})
