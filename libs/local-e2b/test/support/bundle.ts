import { mkdtempSync, rmSync } from 'node:fs'
import { chmod } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const project = fileURLToPath(new URL('../../', import.meta.url))

/** Bundles one source file of this project, so that no test uses a stale build; any account can read the result. */
export async function bundle(source: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'local-e2b-bundle-'))
  process.once('exit', () => { rmSync(folder, { recursive: true, force: true }) })
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
