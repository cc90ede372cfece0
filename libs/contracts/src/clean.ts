import { z } from 'zod'
import { orphansSchema } from './ledger.ts'
import { routeSchema } from './primitives.ts'

/** What `osworld clean` looks for. */
export const cleaningKindSchema = z.enum([
  'sandbox',
  'sandbox_folder',
  'run_temporary_folder',
  'scratch_folder',
  'half_made',
  'template',
  'layer',
  'base',
  'runtime',
  'python_environment',
  'checkout',
])
export type CleaningKind = z.infer<typeof cleaningKindSchema>

const itemShape = {
  kind: cleaningKindSchema,
  /** Template name, sandbox id, or absolute path. */
  name: z.string().min(1),
  /** On disk; null when it could not be measured. */
  bytes: z.int().min(0).nullable(),
  reason: z.string().min(1),
}

/** What `osworld clean --json` prints: everything that it found, and what became of it. */
export const cleanReportSchema = z.strictObject({
  schema_version: z.literal(1),
  /** Then `removed` is what would be removed. */
  dry_run: z.boolean(),
  removed: z.array(z.strictObject(itemShape)),
  kept: z.array(z.strictObject(itemShape)),
  failed: z.array(z.strictObject({ ...itemShape, problem: z.string().min(1) })),
  /** Sum of what is known of `removed`. */
  removed_bytes: z.int().min(0),
  /** Of `--run`: what was found of one run's sandboxes; in a dry run what is there remains. */
  run: z
    .strictObject({
      run_id: z.string(),
      route: routeSchema,
      ...orphansSchema.shape,
      /** Why none can be left where there is nobody to ask; a sentence. */
      note: z.string().optional(),
    })
    .optional(),
})
export type CleanReport = z.infer<typeof cleanReportSchema>
