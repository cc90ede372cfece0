import { expect, test } from 'vitest'
import { osName } from './machine.ts'

test('the system is named as its os-release file names it', () => {
  expect(osName('NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\n')).toBe('Debian GNU/Linux 12 (bookworm)')
  expect(osName('PRETTY_NAME=Plain\n')).toBe('Plain')
})

test('a system without such a file has the name of its kernel', () => {
  expect(osName('')).toBe('Linux')
})
