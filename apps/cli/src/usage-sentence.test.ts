import { expect, test } from 'vitest'
import { usageSentence } from './usage-sentence.ts'

test.each([
  ["error: unknown option '--sweet'\n(Did you mean --suite?)\n", "Unknown option '--sweet'; did you mean --suite? `osworld --help` and `osworld <verb> --help` tell what there is.\n"],
  ["error: unknown command 'rum'\n", "Unknown command 'rum'; `osworld --help` and `osworld <verb> --help` tell what there is.\n"],
  ["error: option '--suite <name>' argument missing\n", "Option '--suite <name>' argument missing; `osworld --help` and `osworld <verb> --help` tell what there is.\n"],
])('%j reads as one sentence', (given, expected) => {
  expect(usageSentence(given)).toBe(expected)
})
