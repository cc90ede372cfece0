import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { execa } from 'execa'

const project = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))
export const programFile = project('dist/main-under-test.js')

/** Bundles the program from its sources as they are now, as the compile target does. */
export async function bundleProgram(): Promise<void> {
  await build({
    entryPoints: [project('src/main.ts')],
    outfile: programFile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['@osworld-e2b/source', 'node', 'import', 'default'],
    plugins: [{ name: 'packages-stay-outside', setup: (setup) => setup.onResolve({ filter: /^[a-z@]/ }, ({ path, kind }) => (kind === 'entry-point' || path.startsWith('@osworld-e2b/') ? undefined : { path, external: true })) }],
  })
}

export interface ProgramRun {
  readonly exitCode: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/** Runs the program from outside, with nothing in its environment but what is given. */
export async function runProgram(commandLine: readonly string[], where: { readonly cwd: string; readonly environment?: Readonly<Record<string, string>> }): Promise<ProgramRun> {
  const environment = { PATH: process.env['PATH'] ?? '', HOME: where.cwd, ...where.environment }
  const { exitCode, stdout, stderr } = await execa(process.execPath, [programFile, ...commandLine], { cwd: where.cwd, env: environment, extendEnv: false, reject: false, stripFinalNewline: false })
  return { exitCode, stdout, stderr }
}
