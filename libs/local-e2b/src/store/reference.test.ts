import { describe, expect, it } from 'vitest'
import { checkTag, parseReference } from './reference.ts'

describe('a template reference', () => {
  it.each([
    ['base', { name: 'base', version: undefined }],
    ['Base:v1.2', { name: 'base', version: 'v1.2' }],
    ['team/base:default', { name: 'base', version: 'default' }],
    ['osworld-gnome-0123:6f1a0c1e-1111-4222-8333-944445555666', { name: 'osworld-gnome-0123', version: '6f1a0c1e-1111-4222-8333-944445555666' }],
  ])('%s is read', (text, reference) => {
    expect(parseReference(text)).toEqual(reference)
  })

  it.each(['', ':x', 'x:', 'a:b:c', 'a/b/c', 'with space', 'base:UPPER', '../x'])("'%s' is refused", (text) => {
    expect(() => parseReference(text)).toThrow(`'${text}'`)
  })

  it('has no tag that could be a build id', () => {
    expect(checkTag('v1')).toBe('v1')
    expect(() => checkTag('6f1a0c1e-1111-4222-8333-944445555666')).toThrow('UUID')
  })
})
