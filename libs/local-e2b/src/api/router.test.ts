import { describe, expect, it } from 'vitest'
import { matchRoute, type Route } from './router.ts'

const handle = (): never => {
  throw new Error('not called')
}
const routes: readonly Route[] = [
  { method: 'GET', path: '/templates/{id}/tags', handle },
  { method: 'GET', path: '/templates/aliases/{alias}', handle },
  { method: 'DELETE', path: '/templates/{id}', handle },
  { method: 'DELETE', path: '/templates/tags', handle },
]

describe('a route', () => {
  it('gives its parameters decoded', () => {
    expect(matchRoute(routes, 'GET', '/templates/team%2Fbase%3Atag/tags').parameters).toEqual({ id: 'team/base:tag' })
  })

  it('with fixed segments wins over one with parameters', () => {
    expect(matchRoute(routes, 'DELETE', '/templates/tags').route.path).toBe('/templates/tags')
    expect(matchRoute(routes, 'DELETE', '/templates/x').route.path).toBe('/templates/{id}')
    expect(matchRoute(routes, 'GET', '/templates/aliases/tags').route.path).toBe('/templates/aliases/{alias}')
  })

  it('that does not exist is refused with method and path, and broken escapes are', () => {
    expect(() => matchRoute(routes, 'POST', '/templates/x')).toThrow('POST /templates/x')
    expect(() => matchRoute(routes, 'GET', '/templates/%zz/tags')).toThrow("'%zz'")
  })
})
