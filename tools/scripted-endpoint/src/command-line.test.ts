import { expect, test } from 'vitest'
import { readCommandLine } from './command-line.ts'

test('a script alone is served on any free port, in plain lines', () => {
  expect(readCommandLine(['--script', 'a.json'])).toEqual({ script: 'a.json', port: 0, json: false })
})

test.each([
  [[], '--script is missing: it names the file that says what is answered; use: scripted-endpoint --script FILE [--port N] [--json].'],
  [['--script', 'a', '--port', '70000'], '--port 70000 is no port; give a number from 0 (any free one) to 65535.'],
  [['--scrip', 'a'], "Unknown option '--scrip'; use: scripted-endpoint --script FILE [--port N] [--json]."],
])('%j is refused in one sentence', (args, sentence) => {
  expect(() => readCommandLine(args)).toThrow(expect.objectContaining({ code: 'usage', message: sentence }))
})
