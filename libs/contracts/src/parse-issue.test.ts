import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { contractFileSchema } from './contract-file.ts'
import { ledgerEventSchema } from './ledger.ts'
import { DocumentError, parseDocument } from './parse.ts'
import { profilesSchema } from './profiles.ts'
import { connectionSchema, relayMessageSchema } from './relay-protocol.ts'

const scoring = { profile: 'package-1.0.2', suite: 'starter', max_steps: 10, agent: { kind: 'none' } }
const operation = { route: { kind: 'local', final: false }, num_envs: 2, attempt_timeout_seconds: 60 }
const file = { schema_version: 2, scoring, operation }

function refusal(schema: z.ZodType, value: unknown): string {
  try {
    parseDocument(schema, 'c.json', value)
  } catch (error) {
    if (error instanceof DocumentError) return error.message
    throw error
  }
  throw new Error('The document was taken.')
}

describe('an unknown key names its path and the nearest allowed key', () => {
  test.each([
    ['at the top', { ...file, operations: {} }, 'operations: is not allowed, the nearest allowed key is operation'],
    ['in an object', { ...file, operation: { ...operation, num_env: 1 } }, 'operation.num_env: is not allowed, the nearest allowed key is num_envs'],
    ['in an object in it', { ...file, operation: { ...operation, route: { ...operation.route, fnal: true } } }, 'operation.route.fnal: is not allowed, the nearest allowed key is final'],
    ['behind a default', { ...file, scoring: { ...scoring, screen: { width: 1, height: 1, hieght: 1 } } }, 'scoring.screen.hieght: is not allowed, the nearest allowed key is height'],
    ['behind an optional', { ...file, operation: { ...operation, budget: { model_request: 1 } } }, 'operation.budget.model_request: is not allowed, the nearest allowed key is model_requests'],
    [
      'in a list behind a refinement',
      { ...file, operation: { ...operation, endpoints: [{ label: 'A' }, { label: 'B', lable: 'C' }] } },
      'operation.endpoints.1.lable: is not allowed, the nearest allowed key is label',
    ],
    [
      'in the shape that a union takes by its kind',
      { ...file, scoring: { ...scoring, agent: { kind: 'scripted', scripts: 's', script_sha256: 'a' } } },
      'scoring.agent.script_sha256: is not allowed with kind "scripted", the nearest allowed key is scripts_sha256',
    ],
    [
      'that another kind of the union takes',
      { ...file, scoring: { ...scoring, agent: { kind: 'none', scripts: 'solve' } } },
      'scoring.agent.scripts: is not allowed with kind "none", the nearest allowed key is kind',
    ],
    [
      'that is like none, with all that may be given',
      { ...file, operation: { ...operation, endpoints: [{ label: 'A', colour: 1 }] } },
      'operation.endpoints.0.colour: is not allowed, the allowed keys are api_key_variable, max_concurrent_requests',
    ],
    ['that holds a line break', { ...file, 'a\nb': 1 }, '"a\\nb": is not allowed, the allowed keys are $schema, comparison, description'],
  ])('%s', (_, value, reason) => {
    expect(refusal(contractFileSchema, value)).toBe(`c.json is not valid: ${reason}.`)
  })

  test('in a record, which takes any name of a form', () => {
    const profiles = { schema_version: 1, default_profile: 'a', profiles: { a: { repository: 'r', commit: 'a'.repeat(40), runner: 'x', source_commit_provenance: 'inferred_from_run_date', suites: { all: { inventory: 'i', upstream_manifest: 'm', diference_from: 'x' } } } } }
    expect(refusal(profilesSchema, profiles)).toBe('c.json is not valid: profiles.a.suites.all.diference_from: is not allowed, the nearest allowed key is difference_from.')
  })

  test('in the nearest shape of a union without a kind', () => {
    expect(refusal(relayMessageSchema, { type: 'stopped', cleanup: 'success', cleenup: 1 })).toBe('c.json is not valid: cleenup: is not allowed with type "stopped", the nearest allowed key is cleanup.')
  })
})

describe('any other fault says what the value must be and what it is', () => {
  const operate = (change: object) => ({ ...file, operation: { ...operation, ...change } })
  test.each([
    [operate({ num_envs: 'eight' }), 'operation.num_envs: must be a whole number, 1 or more, and is "eight"'],
    [operate({ num_envs: true }), 'operation.num_envs: must be a whole number, 1 or more, and is true'],
    [operate({ num_envs: 1.5 }), 'operation.num_envs: must be a whole number, 1 or more, and is 1.5'],
    [operate({ num_envs: 0 }), 'operation.num_envs: must be 1 or more, and is 0'],
    [operate({ num_envs: undefined }), 'operation.num_envs: is missing'],
    [operate({ attempt_timeout_seconds: 90_000 }), 'operation.attempt_timeout_seconds: must be at most 86400, and is 90000'],
    [operate({ route: { kind: 'cloud', final: false } }), 'operation.route.kind: must be "local", "e2b" or "e2b-compatible", and is "cloud"'],
    [operate({ route: [] }), 'operation.route: must be an object, and is a list'],
    [operate({ endpoints: [] }), 'operation.endpoints: must not be empty'],
    [operate({ endpoints: [{ label: 'qwen' }] }), 'operation.endpoints.0.label: must be the upper-case name of an environment variable, and is "qwen"'],
    [operate({ endpoints: [{ label: 'A' }, { label: 'A' }] }), 'operation.endpoints: must name no endpoint twice'],
    [operate({ authorization: { contract_sha256: 'a'.repeat(64), expires_at: 'soon' } }), 'operation.authorization.expires_at: must be a time in UTC such as 2026-01-31T12:00:00Z, and is "soon"'],
    [{ ...file, scoring: { ...scoring, agent: { kind: 'robot' } } }, 'scoring.agent.kind: must be "none", "scripted", "upstream_runner", "upstream", "module" or "http", and is "robot"'],
    [{ ...file, scoring: { ...scoring, agent: {} } }, 'scoring.agent.kind: is missing and must be "none", "scripted", "upstream_runner", "upstream", "module" or "http"'],
    [{ ...file, scoring: { ...scoring, profile: '' } }, 'scoring.profile: must not be empty'],
    [
      { ...file, scoring: { ...scoring, agent: { kind: 'module', class: 'a:B', model: 'm', settings: { top_p: 0.9 } } } },
      'scoring.agent.settings.top_p: must be text, a whole number or true or false, and is 0.9',
    ],
    [
      { ...file, scoring: { ...scoring, agent: { kind: 'module', class: 'a:B', model: 'm', settings: { 'top-p': 1 } } } },
      'scoring.agent.settings.top-p: has a name that must be lower-case letters, digits and underscores',
    ],
    [{ ...file, scoring: { ...scoring, suite: ['a'] } }, 'scoring.suite: must be text, and is a list'],
    ['text', 'the document: must be an object, and is text'],
  ])('%j', (value, reason) => {
    expect(refusal(contractFileSchema, value)).toBe(`c.json is not valid: ${reason}.`)
  })

  test('all faults are told at once, in one sentence', () => {
    expect(refusal(contractFileSchema, { ...file, operation: { num_env: 2 } })).toBe(
      'c.json is not valid: operation.route: is missing; operation.num_envs: is missing; operation.attempt_timeout_seconds: is missing; ' +
        'operation.num_env: is not allowed, the nearest allowed key is num_envs.',
    )
  })

  test('more than ten faults are counted', () => {
    const message = refusal(z.array(z.int()), Array.from({ length: 13 }, () => 'x'))
    expect(message).toMatch(/^c\.json is not valid: 0: must be a whole number, and is "x"; .*; 9: [^;]*; and 3 more\.$/)
  })

  test('an event of an unknown name says which there are', () => {
    expect(refusal(ledgerEventSchema, { event: 'PAUSED' })).toMatch(/event: must be "PLANNED", .* or "TAIL_CUT", and is "PAUSED"/)
  })
})

test('what may be a credential is never in the refusal', () => {
  expect(refusal(connectionSchema, { route: 'local', api_key: 12_345_678 })).toBe('c.json is not valid: api_key: must be text, and is a number.')
  expect(refusal(z.object({ connection: connectionSchema }), { connection: 'e2b_secret' })).toBe('c.json is not valid: connection: must be an object, and is text.')
  expect(refusal(connectionSchema, 'e2b_secret')).not.toContain('e2b_secret')
})
