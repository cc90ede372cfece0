import { expect, test } from 'vitest'
import { attemptMessageSchema, connectionSchema, DocumentError, parseDocument, parseJsonDocument, templateRefSchema } from './index.ts'

test('an unknown key is refused with the document and the key named', () => {
  const value = { route: 'local', api_key: 'k', api_urll: 'http://127.0.0.1:1' }
  expect(() => parseDocument(connectionSchema, 'connection', value)).toThrow(/connection is not valid: .*api_urll/)
})

test('text that is not JSON is refused as the named document', () => {
  expect(() => parseJsonDocument(connectionSchema, 'server.json', '{"route":')).toThrow(DocumentError)
})

test.each(['base', 'base:latest', 'Base:6f1f5a3e-0000-4000-8000-000000000000', 'base:6F1F5A3E-0000-4000-8000-000000000000'])(
  'a template reference that can move or is misspelt is refused: %s',
  (reference) => {
    expect(templateRefSchema.safeParse(reference).success).toBe(false)
  },
)

test.each([Number.NaN, -0.1, 1.01, Number.POSITIVE_INFINITY, '1'])('a reward of %s is no reward', (reward) => {
  const message = {
    type: 'finished',
    outcome: 'valid',
    reward,
    evaluator: {},
    loaded_packages: [],
    adjustments_digest: 'a'.repeat(64),
    upstream: { name: 'desktop-env', version: '1.0.2' },
  }
  expect(attemptMessageSchema.safeParse(message).success).toBe(false)
  expect(attemptMessageSchema.safeParse({ ...message, reward: 0 }).success).toBe(true)
})
