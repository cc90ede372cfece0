import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type LedgerEvent, ledgerEventSchema } from '@osworld-e2b/contracts'
import { build } from 'tsup'

export interface CompiledProgram {
  readonly path: string
  remove(): Promise<void>
}

/** Compiles a program of this folder into a new folder of the workspace, so that the packages of the registry are found from there. */
export async function compileProgram(name: string): Promise<CompiledProgram> {
  const parent = fileURLToPath(new URL('../test-results', import.meta.url))
  await mkdir(parent, { recursive: true })
  const outDir = await mkdtemp(join(parent, `${name}-`))
  await build({
    config: false,
    silent: true,
    entry: [fileURLToPath(new URL(`${name}.ts`, import.meta.url))],
    format: ['esm'],
    platform: 'node',
    target: 'node20',
    outDir,
    noExternal: [/^@osworld-e2b\//],
    skipNodeModulesBundle: true,
    esbuildOptions: (options) => {
      options.conditions = ['@osworld-e2b/source', 'node', 'import', 'default']
    },
  })
  return { path: join(outDir, `${name}.js`), remove: () => rm(outDir, { recursive: true, force: true }) }
}

/** What a coordinator prints: an event of its campaign, or how it began and ended. */
export interface Printed {
  readonly type: string
  readonly [key: string]: unknown
}

/** A process that prints JSON lines. */
export class PrintingProcess {
  readonly child: ChildProcess
  readonly printed: Printed[] = []
  readonly ended: Promise<number | null>
  #stderr = ''
  #hasEnded = false
  readonly #waiting = new Set<() => void>()

  constructor(file: string, args: readonly string[]) {
    this.child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    this.child.stdin?.on('error', () => undefined)
    this.child.stderr?.on('data', (chunk: Buffer) => (this.#stderr += chunk.toString()))
    if (this.child.stdout !== null) {
      createInterface({ input: this.child.stdout }).on('line', (line) => {
        this.printed.push(JSON.parse(line) as Printed)
        this.#notify()
      })
    }
    this.ended = once(this.child, 'close').then(([exitCode]) => {
      this.#hasEnded = true
      this.#notify()
      return exitCode as number | null
    })
  }

  /** The first line that matches, as soon as it is printed; fails when the process ends without one. */
  async until(matches: (line: Printed) => boolean): Promise<Printed> {
    for (;;) {
      const found = this.printed.find(matches)
      if (found !== undefined) return found
      if (this.#hasEnded) throw new Error(`The process ended without that line. It printed ${JSON.stringify(this.printed)} and said:\n${this.#stderr}`)
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  /** Ends every program that said its number, and so what started them. */
  async kill(): Promise<void> {
    for (const { type, pid } of this.printed) if (type === 'begun' && !this.#hasEnded) killIfThere(Number(pid))
    this.child.kill('SIGKILL')
    await this.ended
  }

  say(line: string): void {
    this.child.stdin?.write(`${line}\n`)
  }

  #notify(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** Why no process of this user may have a small disk of its own; undefined when one may. */
export function smallDiskProblem(): string | undefined {
  const { status, stderr, error } = spawnSync('unshare', ['-Urm', 'sh', '-c', 'mount -t tmpfs -o size=1m none /mnt'], { encoding: 'utf8' })
  return status === 0 ? undefined : (error?.message ?? stderr.trim())
}

/** Runs programs one after the other on a memory disk of 2 MiB that is mounted on the folder, in namespaces that end with them. */
export function onSmallDisk(folder: string, commands: readonly (readonly string[])[]): PrintingProcess {
  const quoted = commands.map((command) => command.map((part) => `'${part.replaceAll("'", `'\\''`)}'`).join(' '))
  return new PrintingProcess('unshare', ['-Urm', 'sh', '-c', `mount -t tmpfs -o size=2m none "$1" || exit 9\n${quoted.join('\n')}`, 'sh', folder])
}

/** The whole ledger that a coordinator printed at its end; throws when a line of it is broken. */
export function ledgerOf(printed: Printed): readonly LedgerEvent[] {
  const text = String(printed.text)
  if (!text.endsWith('\n')) throw new Error(`The ledger ends in half a line: ${text.slice(-80)}`)
  return text.trimEnd().split('\n').map((line) => ledgerEventSchema.parse(JSON.parse(line)))
}
