import { describe, expect, it } from 'vitest'
import { ingressTarget } from './target.ts'

describe('the target of a request', () => {
  it.each([
    [{ 'e2b-sandbox-id': 'iabc', 'e2b-sandbox-port': '5000', host: '127.0.0.1:1' }, { kind: 'sandbox', sandboxId: 'iabc', port: 5000 }],
    [{ host: '9222-iabc.localhost:3000' }, { kind: 'sandbox', sandboxId: 'iabc', port: 9222 }],
    [{ 'e2b-sandbox-id': 'iabc', 'e2b-sandbox-port': '80', host: '9222-other.localhost' }, { kind: 'sandbox', sandboxId: 'iabc', port: 80 }],
    [{ host: '127.0.0.1:3000' }, { kind: 'none' }],
    [{}, { kind: 'none' }],
  ])('of %j is %j', (headers, target) => {
    expect(ingressTarget(headers)).toEqual(target)
  })

  it.each([
    [{ 'e2b-sandbox-id': 'iabc' }, 'E2b-Sandbox-Port'],
    [{ 'e2b-sandbox-port': '80' }, 'E2b-Sandbox-Id'],
    [{ 'e2b-sandbox-id': 'i/../x', 'e2b-sandbox-port': '80' }, 'sandbox id'],
    [{ 'e2b-sandbox-id': 'iabc', 'e2b-sandbox-port': '0' }, 'port'],
    [{ 'e2b-sandbox-id': 'iabc', 'e2b-sandbox-port': '65536' }, 'port'],
    [{ host: '70000-iabc.localhost' }, 'port'],
  ])('of %j is refused for its %s', (headers, word) => {
    expect(ingressTarget(headers)).toMatchObject({ kind: 'invalid', problem: expect.stringContaining(word) as string })
  })
})
