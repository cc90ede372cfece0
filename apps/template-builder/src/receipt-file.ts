import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { buildReceiptSchema, type BuildReceipt } from '@osworld-e2b/contracts'
import { writeJsonAtomic } from '@osworld-e2b/inventory'

/** Where the receipt of a template goes unless the command line says otherwise. */
export function defaultReceiptFile(template: string): string {
  return join('results', 'templates', `${template.split(':')[0] ?? template}.json`)
}

/** Writes the receipt. The record of the real build of the same template is kept, since it says more than that of a search. */
export async function writeReceipt(path: string, receipt: BuildReceipt): Promise<void> {
  if (receipt.reused === true && (await recordedTemplate(path)) === receipt.template) return
  await mkdir(dirname(path), { recursive: true })
  await writeJsonAtomic(path, receipt)
}

async function recordedTemplate(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  try {
    return buildReceiptSchema.parse(JSON.parse(text)).template
  } catch {
    // What is no receipt is replaced by one.
    return undefined
  }
}
