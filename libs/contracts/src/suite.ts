import { z } from 'zod'
import { taskKeySchema } from './primitives.ts'

/** A suite of our own: task files and script sets beside it, in `tasks/<domain>/<id>.json` and `scripts/<set>/<domain>/<id>.json`. */
export const suiteSchema = z.strictObject({
  schema_version: z.literal(1),
  name: z.string().regex(/^[a-z0-9][a-z0-9-]*$/),
  description: z.string(),
  tasks: z
    .array(taskKeySchema)
    .min(1)
    .refine((tasks) => new Set(tasks.map(({ domain, id }) => `${domain}/${id}`)).size === tasks.length, 'must name no task twice'),
})
export type Suite = z.infer<typeof suiteSchema>

/** OSWorld's own manifest (`test_all.json`): domain to task ids, in file order. */
export const upstreamManifestSchema = z.record(z.string(), z.array(z.string()))

const actionStepSchema = z.looseObject({ type: z.string(), parameters: z.record(z.string(), z.unknown()).optional() })

/**
 * The part of an OSWorld task file that this project reads; all else is upstream's and is passed on as bytes.
 * Source: the task files themselves (`evaluation_examples/examples`).
 */
export const osworldTaskSchema = z.looseObject({
  id: z.string(),
  instruction: z.string(),
  config: z.array(actionStepSchema).optional(),
  proxy: z.unknown().optional(),
  evaluator: z.looseObject({ func: z.union([z.string(), z.array(z.string())]) }),
})
export type OsworldTask = z.infer<typeof osworldTaskSchema>
