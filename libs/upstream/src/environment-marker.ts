import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseJsonDocument, sha256Schema } from '@osworld-e2b/contracts'
import { z } from 'zod'

const markerSchema = z.strictObject({
  schema_version: z.literal(1),
  digest: sha256Schema,
  python_version: z.string(),
  base_prefix: z.string().startsWith('/'),
  site_packages: z.string().startsWith('/'),
})
export type EnvironmentMarker = z.infer<typeof markerSchema>

/** Written last: an environment without it is half made. */
export function markerPath(folder: string): string {
  return join(folder, 'complete.json')
}

export function interpreterPath(folder: string): string {
  return join(folder, 'bin', 'python')
}

/** The marker of a whole environment whose interpreter is still there, else nothing. */
export async function readMarker(folder: string): Promise<EnvironmentMarker | undefined> {
  try {
    const text = await readFile(markerPath(folder), 'utf8')
    // The interpreter is a link into the Python that made the environment, which may have been removed since.
    await access(interpreterPath(folder))
    return parseJsonDocument(markerSchema, markerPath(folder), text)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
