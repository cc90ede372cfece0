import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ledgerLines } from './ledger-lines.ts'

async function read(content: string): Promise<{ readonly lines: readonly string[]; readonly tornBytes: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'ledger-lines-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'ledger'), content)
  const lines: string[] = []
  const reader = ledgerLines(join(folder, 'ledger'))
  let next = await reader.next()
  for (; next.done !== true; next = await reader.next()) lines.push(`${next.value.number}:${next.value.text}`)
  return { lines, tornBytes: next.value.tornBytes }
}

test('whole lines are numbered from 1, and what follows the last line end is counted in bytes', async () => {
  expect(await read('one\n\nthree\nfür')).toEqual({ lines: ['1:one', '2:', '3:three'], tornBytes: 4 })
  expect(await read('')).toEqual({ lines: [], tornBytes: 0 })
})

test('lines and characters that lie across the pieces of a file stay whole', async () => {
  const long = `${'ü'.repeat(100_001)}x`
  expect(await read(`a${long}\n${long}\n`)).toEqual({ lines: [`1:a${long}`, `2:${long}`], tornBytes: 0 })
})

test('a file without line ends is counted and gives no line, however long it is', async () => {
  const bytes = 40 * 1024 * 1024
  expect(await read('x'.repeat(bytes))).toEqual({ lines: [], tornBytes: bytes })
})
