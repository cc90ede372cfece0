import { z } from 'zod'

const checkShape = { need: z.string().min(1), found: z.string().min(1), required: z.boolean() }

/** One need of a run on local sandboxes: there, missing though nothing runs without it, or only advised. */
export const doctorCheckSchema = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('ok'), ...checkShape }),
  z.strictObject({ status: z.literal('missing'), ...checkShape, required: z.literal(true), remedy: z.string().min(1) }),
  z.strictObject({ status: z.literal('warning'), ...checkShape, required: z.literal(false), remedy: z.string().min(1) }),
])
export type DoctorCheck = z.infer<typeof doctorCheckSchema>

/** What `osworld doctor --json` prints. */
export const doctorReportSchema = z.strictObject({
  schema_version: z.literal(1),
  checks: z.array(doctorCheckSchema),
  /** Whether nothing that is required is missing. */
  ready: z.boolean(),
})
export type DoctorReport = z.infer<typeof doctorReportSchema>
