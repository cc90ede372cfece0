import { basename, join } from 'node:path'
import { build } from 'tsup'

const project = join(import.meta.dirname, '..')

/** Compiles a fixture with the workspace's libs bundled in, so that plain Node runs it; gives its path. */
export async function buildProgram(name: string): Promise<string> {
  const outDir = join(project, 'dist', 'fixtures', name)
  await build({
    entry: [join(import.meta.dirname, 'fixtures', `${name}.ts`)],
    outDir,
    format: ['esm'],
    platform: 'node',
    target: 'node20',
    config: false,
    silent: true,
    noExternal: [/^@osworld-e2b\//],
    esbuildOptions(options) {
      options.conditions = ['@osworld-e2b/source', 'node', 'import', 'default']
    },
  })
  return join(outDir, `${basename(name)}.js`)
}
