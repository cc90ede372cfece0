import { expect, test } from 'vitest'
import { cut, displayWidth, oneLine } from './one-line.ts'

test('a text from a guest cannot colour, move, clear, ring or turn the terminal', () => {
  expect(oneLine('a\u001B[31mred\u001B[0m\u001B]0;title\u0007 b\r\nc\u0000\td\u2028e\u202Ef\u009Bg')).not.toMatch(/[\p{Cc}\u2028\u202E]/u)
  expect(oneLine('first\r\n  second\u001B[2J')).toBe('first   second')
})

test.each([
  ['plain', 5],
  ['漢字', 4],
  ['ｆｕｌｌ', 8],
  ['한글', 4],
  ['e\u0301', 1],
  ['👩‍👩‍👧', 2],
  ['🇩🇪', 2],
  ['a\u200Bb', 2],
  ['…é·█', 4],
])('%s takes %d columns', (text, columns) => {
  expect(displayWidth(text)).toBe(columns)
})

test.each([
  ['plain', 5, 'plain'],
  ['plainer', 5, 'plai…'],
  ['漢字漢', 4, '漢…'],
  ['漢字漢', 5, '漢字…'],
  ['👩‍👩‍👧👩‍👩‍👧', 3, '👩‍👩‍👧…'],
  ['x', 0, ''],
  ['xy', 1, '…'],
])('%s cut to %d columns is %s', (text, width, expected) => {
  expect(cut(text, width)).toBe(expected)
  expect(displayWidth(cut(text, width))).toBeLessThanOrEqual(width)
})
