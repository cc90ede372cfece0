import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { junit, type JunitArguments } from '../src/commands/junit.ts'
import { attemptEvents, makeSmallRun, type SmallRun } from './small-run.ts'

let place: SmallRun
beforeEach(async () => {
  place = await makeSmallRun()
})
afterEach(() => place.remove())

async function printed(given: JunitArguments = {}): Promise<string> {
  const stdout = new PassThrough()
  expect(await junit('r1', { results: place.results, ...given }, stdout)).toBe(0)
  return String(stdout.read())
}

const dump = `
import json, sys, xml.etree.ElementTree as tree
def plain(element):
    return {"tag": element.tag, "attributes": element.attrib, "text": (element.text or "").strip(), "children": [plain(child) for child in element]}
print(json.dumps(plain(tree.fromstring(sys.stdin.buffer.read()))))
`
interface Node {
  readonly tag: string
  readonly attributes: Readonly<Record<string, string>>
  readonly text: string
  readonly children: readonly Node[]
}

/** As another program's parser reads it. */
function parsed(text: string): Node {
  const { stdout, stderr, status } = spawnSync('python3', ['-c', dump], { input: text, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as Node
}

const nasty = 'a <b> & "c" \'d\' ]]> \u0000\u001B[31m\u0085 line\nbreak\ttab \uFFFE \uD800 漢字 👩‍👧'

test('a solved trial passes, a lower reward fails, an attempt without a score is an error, the rest is skipped', async () => {
  await place.record(
    ...attemptEvents('os/a#1.1', { kind: 'valid', reward: 1 }),
    ...attemptEvents('os/b#1.1', { kind: 'invalid', reason: 'guest_lost', message: 'First.' }),
    ...attemptEvents('os/b#1.2', { kind: 'invalid', reason: 'timeout', phase: 'setup', message: 'Too slow.' }),
    ...attemptEvents('chrome/d#1.1', { kind: 'valid', reward: 0.5 }),
  )
  const root = parsed(await printed())
  expect(root.attributes).toEqual({ name: 'r1', tests: '4', failures: '1', errors: '1', skipped: '1', time: '50.000' })
  expect(root.children.map(({ tag, attributes }) => [tag, attributes])).toEqual([
    ['testsuite', { name: 'chrome', tests: '2', failures: '1', errors: '0', skipped: '1', time: '12.500', timestamp: '2026-01-01T00:00:00' }],
    ['testsuite', { name: 'os', tests: '2', failures: '0', errors: '1', skipped: '0', time: '37.500', timestamp: '2026-01-01T00:00:00' }],
  ])
  const cases = root.children.flatMap(({ children }) => children.filter(({ tag }) => tag === 'testcase'))
  expect(cases.map(({ attributes, children }) => [attributes.classname, attributes.name, attributes.time, ...children.map(({ tag, attributes: { type, message }, text }) => [tag, type, message, text])])).toEqual([
    ['chrome', 'c', '0.000', ['skipped', undefined, 'not run', '']],
    ['chrome', 'd', '12.500', ['failure', 'reward', 'reward 0.5 after 3 steps', 'evidence: attempts/chrome/d/1.1']],
    ['os', 'a', '12.500'],
    ['os', 'b', '25.000', ['error', 'timeout', 'timeout in setup: Too slow.', 'Too slow.\nattempts: 2\nevidence: attempts/os/b/1.2']],
  ])
})

test('each suite tells the score with its coverage, of the run and of the domain', async () => {
  await place.record(...attemptEvents('os/a#1.1', { kind: 'valid', reward: 1 }))
  const properties = parsed(await printed()).children.map(({ children }) => new Map((children[0]?.children ?? []).map(({ attributes: { name, value } }) => [name, value])))
  const run = { 'run.score_declared': '0.25', 'run.coverage': '0.25', 'run.score_valid': '1' }
  expect(properties).toEqual([
    new Map(Object.entries({ ...run, score_declared: '0', coverage: '0', score_valid: 'none' })),
    new Map(Object.entries({ ...run, score_declared: '0.5', coverage: '0.5', score_valid: '1' })),
  ])
})

test('whatever an attempt said, the document is well-formed and says it', async () => {
  await place.record(...attemptEvents('os/a#1.1', { kind: 'invalid', reason: 'runner_exit', message: nasty }))
  const error = parsed(await printed()).children[1]?.children[1]?.children[0]
  const shown = nasty.replace('\u0000', '\\u0000').replace('\u001B', '\\u001b').replace('\uFFFE', '\\ufffe').replace('\uD800', '\\ud800')
  expect(error?.attributes.message).toBe(`runner_exit: ${shown}`)
  expect(error?.text).toBe(`${shown}\nattempts: 1\nevidence: attempts/os/a/1.1`)
})

test('an attempt that has not ended is skipped, and repeats are told apart', async () => {
  const repeated = await makeSmallRun({ trials: 2 })
  await repeated.record(...attemptEvents('os/a#2.1'))
  const root = parsed(await printed({ results: repeated.results }))
  await repeated.remove()
  const cases = root.children[1]?.children.filter(({ tag }) => tag === 'testcase') ?? []
  expect(cases.map(({ attributes: { name }, children }) => `${name}: ${children[0]?.attributes.message}`)).toEqual(['a: not run', 'a#2: attempt 1 has not ended', 'b: not run', 'b#2: not run'])
})

test('the same run gives the same bytes, also in a file, whose path is printed', async () => {
  await place.record(...attemptEvents('os/a#1.1', { kind: 'valid', reward: 0 }))
  const output = join(place.results, 'junit.xml')
  expect(await printed({ output })).toBe(`${output}\n`)
  expect(await readFile(output, 'utf8')).toBe(await printed())
})
