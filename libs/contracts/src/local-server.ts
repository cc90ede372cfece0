import { z } from 'zod'

/** `server.json` of a local-e2b data folder (mode 0600): how other programs of the same user reach the server. */
export const localServerFileSchema = z.strictObject({
  schema_version: z.literal(1),
  url: z.url(),
  api_key: z.string().regex(/^e2b_[0-9a-f]{40}$/, 'must be e2b_ and 40 hexadecimal digits'),
  pid: z.int().positive(),
  /** Start time of that process in clock ticks since boot (`/proc/<pid>/stat` field 22): tells a reused pid. */
  pid_start: z.string(),
})
export type LocalServerFile = z.infer<typeof localServerFileSchema>

/** The one line that the server prints on standard output when it answers. */
export const localServerReadySchema = z.strictObject({ type: z.literal('ready'), url: z.url(), server_file: z.string() })
export type LocalServerReady = z.infer<typeof localServerReadySchema>
