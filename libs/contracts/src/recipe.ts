import { z } from 'zod'
import { relativePathSchema, sha256Schema, templateRefSchema, timestampSchema } from './primitives.ts'

/** A desktop image as data: base packages, files, steps. Only strings, integers and booleans, since it is hashed. */
export const recipeSchema = z.strictObject({
  schema_version: z.literal(1),
  variant: z.enum(['debian-12', 'ubuntu-22.04']),
  base: z.strictObject({
    suite: z.string(),
    /** Variant of `mmdebstrap`, such as `minbase`. */
    variant: z.string(),
    packages: z.array(z.string()).min(1),
    apt_options: z.array(z.string()),
    dpkg_options: z.array(z.string()),
  }),
  /** Folders of the template library that are copied into the image; `to` is absolute in the guest. */
  copy: z.array(z.strictObject({ from: relativePathSchema, to: z.string().startsWith('/') })),
  steps: z.array(z.strictObject({ name: z.string(), run: z.string(), user: z.string() })),
  start_command: z.string(),
  ready_command: z.string(),
  resources: z.strictObject({ cpu_count: z.int().min(1), memory_mb: z.int().min(128) }),
})
export type Recipe = z.infer<typeof recipeSchema>

/** Record of one template build that others can check. */
export const buildReceiptSchema = z.strictObject({
  schema_version: z.literal(1),
  template: templateRefSchema,
  template_id: z.string(),
  built_at: timestampSchema,
  variant: z.string(),
  content_sha256: sha256Schema,
  inputs: z.array(z.strictObject({ path: relativePathSchema, sha256: sha256Schema })),
  resources: z.strictObject({ cpu_count: z.int(), memory_mb: z.int() }),
  sdk: z.strictObject({ name: z.literal('e2b'), version: z.string() }),
  route: z.string(),
  byte_reproducible: z.literal(false),
  /** What the build took from moving sources, with the reason. */
  floating: z.array(z.strictObject({ name: z.string(), reason: z.string() })),
  seconds: z.int().min(0),
  /** A ready template of the same content was found instead of built; `seconds` is then the search. */
  reused: z.boolean().optional(),
})
export type BuildReceipt = z.infer<typeof buildReceiptSchema>
