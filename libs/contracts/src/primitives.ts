import { z } from 'zod'

/** Lower-case hexadecimal SHA-256. */
export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits')

/** Path with forward slashes, relative to the document that holds it; never leaves that folder. */
export const relativePathSchema = z
  .string()
  .min(1)
  .refine((path) => !path.startsWith('/') && !path.split('/').includes('..'), 'must be relative and stay inside its folder')

/** RFC 3339 in UTC, as `Date.prototype.toISOString` writes it. */
export const timestampSchema = z.iso.datetime()

/** One OSWorld task: the domain is a folder name, the id a file name without its ending. */
export const taskKeySchema = z.strictObject({
  domain: z.string().regex(/^[a-z0-9_]+$/, 'must hold lower-case letters, digits and underscores only'),
  id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'must be a plain file name'),
})
export type TaskKey = z.infer<typeof taskKeySchema>

/** `name:build_id`, where the build id is a UUID: an image that cannot change under a run. */
export const templateRefSchema = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]*:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
    'must be name:build_id, with the build id a lower-case UUID',
  )
export type TemplateRef = z.infer<typeof templateRefSchema>

/** Where sandboxes come from. */
export const routeSchema = z.enum(['local', 'e2b', 'e2b-compatible'])
export type Route = z.infer<typeof routeSchema>
