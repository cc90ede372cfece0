import { z } from 'zod'
import { relativePathSchema, sha256Schema } from './primitives.ts'

export const catalogEntrySchema = z.strictObject({
  path: relativePathSchema,
  bytes: z.int().min(0),
  sha256: sha256Schema,
})
export type CatalogEntry = z.infer<typeof catalogEntrySchema>

/** `artifacts.json`: every regular file of an attempt's folder but this one, in path order. */
export const catalogSchema = z.strictObject({ schema_version: z.literal(1), artifacts: z.array(catalogEntrySchema) })
export type Catalog = z.infer<typeof catalogSchema>
