import { z } from 'zod'
import { sha256Schema, taskKeySchema } from './primitives.ts'

/** `inventory.json` of a suite of our own: what its task files were when it was checked, in the suite's order. */
export const suiteInventorySchema = z.strictObject({
  schema_version: z.literal(1),
  suite: z.string().min(1),
  task_count: z.int().min(1),
  /** SHA-256 of the canonical JSON of this document without this field. */
  inventory_sha256: sha256Schema,
  /** `task_sha256` is over the file's bytes; `proxy` by Python's notion of truth, as upstream reads it. */
  tasks: z.array(taskKeySchema.extend({ task_sha256: sha256Schema, proxy: z.boolean() })).min(1),
})
export type SuiteInventory = z.infer<typeof suiteInventorySchema>
