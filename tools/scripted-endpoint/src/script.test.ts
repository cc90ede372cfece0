import { expect, test } from 'vitest'
import { parseScript, parseScriptText } from './script.ts'

test('what a script leaves out has its usual value', () => {
  expect(parseScript({ schema_version: 1, tasks: [{ match: 'bread', steps: [{ action: 'wait' }, { fault: 'hang' }] }] }, 'It')).toEqual({
    schema_version: 1,
    models: ['scripted'],
    tasks: [{ match: 'bread', steps: [{ action: 'wait', arguments: {} }, { fault: 'hang', times: 1 }] }],
    otherwise: [],
    finally: { action: 'terminate', arguments: { status: 'success' } },
  })
})

const withStep = (step: unknown) => ({ schema_version: 1, tasks: [{ match: 'bread', steps: [{ text: 'a' }, step] }] })

test.each([
  [withStep({ txt: 'a' }), 'tasks.0.steps.1: must hold exactly one of text, action and fault'],
  [withStep({ text: 'a', action: 'wait' }), 'tasks.0.steps.1: must hold exactly one of text, action and fault'],
  [withStep({ action: 'wait', argument: {} }), 'tasks.0.steps.1: Unrecognized key: "argument"'],
  [withStep({ fault: 'status', status: 200 }), 'tasks.0.steps.1.status: Too small: expected number to be >=400'],
  [{ schema_version: 1, tasks: [], finally: { fault: 'hang' } }, 'finally: must be a text or an action'],
  [{ schema_version: 1, tasks: [{ match: '', steps: [] }] }, 'tasks.0.match: Too small: expected string to have >=1 characters'],
])('the mistake in %j is told in one sentence', (value, mistake) => {
  expect(() => parseScript(value, 'script.json')).toThrow(expect.objectContaining({ code: 'script_invalid', message: `script.json is no script (${mistake}); correct it and start again.` }))
})

test('text that is not JSON is told in one sentence', () => {
  expect(() => parseScriptText('{', 'script.json')).toThrow(expect.objectContaining({ code: 'script_invalid', message: expect.stringMatching(/^script\.json is no script \(it is not JSON: .*\); correct it and start again\.$/) as string }))
})
