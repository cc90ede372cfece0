import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseJsonDocument, type PriceTable, priceTableSchema } from '@osworld-e2b/contracts'
import { UsageError } from '../usage-error.ts'
import { workspace } from '../workspace.ts'

const shippedFile = join(workspace.suites, 'prices.json')

/** The price table that `--prices` names, else the one of this project. */
export async function loadPrices(given: string | undefined): Promise<PriceTable> {
  const file = given === undefined ? shippedFile : resolve(given)
  return parseJsonDocument(priceTableSchema, `The price table ${file}`, await readText(file))
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    throw new UsageError(`--prices: ${file} cannot be read (${String(error.code)}); give the path of a price table, such as a copy of validation/prices.json.`, { cause: error })
  }
}
