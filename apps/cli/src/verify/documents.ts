import { join } from 'node:path'
import {
  aggregateSchema,
  type Aggregate,
  type Contract,
  contractFileSchema,
  type ContractFile,
  contractSchema,
  DocumentError,
  parseJsonDocument,
  type RunDocument,
  runDocumentSchema,
  runLockSchema,
  runStatusSchema,
  type VerifyFault,
} from '@osworld-e2b/contracts'
import type { z } from 'zod'
import { kindAt, readText } from './read-text.ts'

/** The documents of a run folder; one that is absent or cannot be read is undefined, and a fault where it has to be there. */
export interface RunDocuments {
  readonly document: RunDocument | undefined
  readonly contract: Contract | undefined
  readonly written: ContractFile | undefined
  readonly aggregate: Aggregate | undefined
  readonly faults: readonly VerifyFault[]
}

export async function readDocuments(folder: string): Promise<RunDocuments> {
  const faults: VerifyFault[] = []
  const read = async <Schema extends z.ZodType>(path: string, schema: Schema, isNeeded: boolean): Promise<z.output<Schema> | undefined> => {
    const text = await readText(join(folder, path))
    // A link or a folder in its place is told where the whole run folder is walked through.
    if (text === undefined && isNeeded && (await kindAt(join(folder, path))) !== 'other') faults.push({ kind: 'document', path, message: `${path} is missing; get it from a whole copy of the folder.` })
    return text === undefined ? undefined : parsed(schema, path, { text, faults })
  }
  const documents = {
    document: await read('run.json', runDocumentSchema, true),
    contract: await read('contract.json', contractSchema, true),
    written: await read('written-contract.json', contractFileSchema, false),
    aggregate: await read('aggregate.json', aggregateSchema, false),
  }
  await read('run.lock', runLockSchema, false)
  await read('status.json', runStatusSchema, false)
  return { ...documents, faults }
}

/** The value of a document; undefined and one more fault where it is not what its schema asks for. */
export function parsed<Schema extends z.ZodType>(schema: Schema, path: string, { text, faults }: { readonly text: string; readonly faults: VerifyFault[] }): z.output<Schema> | undefined {
  try {
    return parseJsonDocument(schema, path, text)
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error
    faults.push({ kind: 'document', path, message: `${error.message} It was edited, damaged, or written by another version of osworld: get an unchanged copy, or verify with the version that made the run.` })
    return undefined
  }
}
