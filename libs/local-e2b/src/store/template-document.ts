import { z } from 'zod'

const textMap = z.record(z.string(), z.string())

/** What a build leaves behind for sandboxes: overlay folders (relative to the data folder, topmost first) and defaults. */
export const builtImageSchema = z.strictObject({
  key: z.string(),
  layers: z.array(z.string()).min(1),
  user: z.string(),
  workdir: z.string(),
  environment: textMap,
  start_command: z.string().nullable(),
})
export type BuiltImage = z.infer<typeof builtImageSchema>

export const buildReasonSchema = z.strictObject({ message: z.string(), step: z.string() })
export type BuildReason = z.infer<typeof buildReasonSchema>

export const buildRecordSchema = z.strictObject({
  build_id: z.string(),
  status: z.enum(['waiting', 'building', 'ready', 'error']),
  created_at: z.string(),
  finished_at: z.string().nullable(),
  cpu_count: z.int(),
  memory_mb: z.int(),
  tags: z.array(z.string()),
  image: builtImageSchema.nullable(),
  reason: buildReasonSchema.nullable(),
})
export type BuildRecord = z.infer<typeof buildRecordSchema>

export const templateRecordSchema = z.strictObject({
  template_id: z.string(),
  name: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  tags: z.record(z.string(), z.strictObject({ build_id: z.string(), created_at: z.string() })),
  builds: z.record(z.string(), buildRecordSchema),
})
export type TemplateRecord = z.infer<typeof templateRecordSchema>

export const templatesDocumentSchema = z.strictObject({ schema_version: z.literal(1), templates: z.array(templateRecordSchema) })
export type TemplatesDocument = z.infer<typeof templatesDocumentSchema>
