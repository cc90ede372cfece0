import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { UsageError } from '../usage-error.ts'
import { loadPrices } from './prices.ts'

test("prices are this project's, unless a table of the user's own is named", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prices-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'prices.json')
  await writeFile(file, '{"schema_version": 1, "models": {"mine": {"input": "0", "output": "0"}}}')
  expect(Object.keys((await loadPrices(undefined)).models).length).toBeGreaterThan(5)
  expect((await loadPrices(file)).models).toEqual({ mine: { input: '0', output: '0' } })
  await writeFile(file, '{"schema_version": 1, "models": {"mine": {"input": 0.1, "output": "0"}}}')
  await expect(loadPrices(file)).rejects.toThrow(`The price table ${file} is not valid: models.mine.input:`)
  const missing = join(folder, 'none.json')
  await expect(loadPrices(missing)).rejects.toThrow(new UsageError(`--prices: ${missing} cannot be read (ENOENT); give the path of a price table, such as a copy of validation/prices.json.`))
})
