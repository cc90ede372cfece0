import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseJsonDocument, priceTableSchema } from '@osworld-e2b/contracts'
import { prettyJson } from '@osworld-e2b/inventory'
import { expect, test } from 'vitest'

const validation = new URL('../../../validation/', import.meta.url)

test('the price table is written as this project writes JSON, says of which day it is, and names its schema', async () => {
  const text = await readFile(new URL('prices.json', validation), 'utf8')
  const { $schema, description } = parseJsonDocument(priceTableSchema, 'prices.json', text)
  expect(text).toBe(prettyJson(JSON.parse(text)))
  expect(description).toMatch(/\b20\d\d-\d\d-\d\d\b/)
  expect(existsSync(fileURLToPath(new URL($schema ?? '', validation)))).toBe(true)
})

test('what is read from a cache costs no more than what is not, and output no less than input', async () => {
  const { models } = parseJsonDocument(priceTableSchema, 'prices.json', await readFile(new URL('prices.json', validation), 'utf8'))
  const turned = Object.entries(models).filter(([, { input, output, cached_input: cached = input, cache_write: write = input }]) => Number(cached) > Number(input) || Number(write) < Number(input) || Number(output) < Number(input))
  expect(turned).toEqual([])
})
