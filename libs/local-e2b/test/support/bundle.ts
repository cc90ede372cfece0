import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll } from 'vitest'

const project = fileURLToPath(new URL('../../', import.meta.url))
const folders: string[] = []

// Not when the process exits: the runner ends its workers by a signal, after which no exit handler runs.
afterAll(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

/** Bundles one source file of this project, so that no test uses a stale build; any account can read the result, until the test file has ended. */
export async function bundle(source: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'local-e2b-bundle-'))
  folders.push(folder)
  await chmod(folder, 0o755)
  const outfile = join(folder, 'bundle.cjs')
  await build({
    entryPoints: [join(project, source)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    conditions: ['@osworld-e2b/source'],
    logLevel: 'error',
  })
  return outfile
}
