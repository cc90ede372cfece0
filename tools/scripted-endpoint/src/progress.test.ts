import { expect, test } from 'vitest'
import { createProgress } from './progress.ts'
import { parseScript, type ScriptInput } from './script.ts'

const progressOf = (script: Omit<ScriptInput, 'schema_version'>) => createProgress(parseScript({ schema_version: 1, ...script }, 'It'))
const bread = { match: 'bread', steps: [{ text: 'one' }, { text: 'two' }] }

test('a step comes again until it was given, then the next one, and at the end the last word for ever', () => {
  const progress = progressOf({ tasks: [bread], finally: { text: 'end' } })
  const said = Array.from({ length: 6 }, (_, index) => {
    const turn = progress.turnOf(['buy bread'])
    if (index !== 0) turn.given()
    return 'text' in turn.step ? turn.step.text : ''
  })
  expect(said).toEqual(['one', 'one', 'two', 'end', 'end', 'end'])
})

test('tasks move apart from each other, and so does what is about none of them', () => {
  const progress = progressOf({ tasks: [bread, { match: 'milk', steps: [{ text: 'pour' }] }], otherwise: [{ text: 'what?' }] })
  progress.turnOf(['buy bread']).given()
  expect(progress.turnOf(['', 'buy milk'])).toMatchObject({ task: 'milk', index: 0 })
  expect(progress.turnOf(['hello'])).toMatchObject({ task: undefined, index: 0, step: { text: 'what?' } })
  expect(progress.turnOf(['buy bread'])).toMatchObject({ task: 'bread', index: 1 })
})

test('a fault is shown as often as it says and then makes way for the answer', () => {
  const progress = progressOf({ tasks: [{ match: 'bread', steps: [{ fault: 'hang', times: 2 }, { text: 'one' }] }] })
  const indexes = Array.from({ length: 3 }, () => {
    const turn = progress.turnOf(['bread'])
    turn.given()
    return turn.index
  })
  expect(indexes).toEqual([0, 0, 1])
})

test('of two requests at the same step only one moves on', () => {
  const progress = progressOf({ tasks: [bread] })
  const turns = [progress.turnOf(['bread']), progress.turnOf(['bread'])]
  for (const turn of turns) turn.given()
  expect(progress.turnOf(['bread']).index).toBe(1)
})
