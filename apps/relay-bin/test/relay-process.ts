import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import { relayMessageSchema, type RelayConfigure, type RelayMessage } from '@osworld-e2b/contracts'

/** Bundles the app as it is built, beside its package file, so that no stale build is tested; gives the file. */
export async function bundleRelay(): Promise<string> {
  const folder = join(import.meta.dirname, '../test-results')
  await mkdir(folder, { recursive: true })
  const outfile = join(folder, `relay-bin-${process.pid}.mjs`)
  await build({
    entryPoints: [join(import.meta.dirname, '../src/main.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@osworld-e2b/source'],
    external: ['e2b', 'http-proxy', 'pino', 'ws', 'zod'],
    logLevel: 'error',
  })
  return outfile
}

/** One running relay-bin, spoken to as the coordinator does. */
export class RelayProcess {
  readonly child: ChildProcess
  readonly messages: RelayMessage[] = []
  readonly #ended: Promise<unknown>
  #stdout = ''
  #stderr = ''
  #nextId = 1

  constructor(file: string) {
    this.child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'pipe'], env: { PATH: process.env['PATH'] } })
    this.#ended = once(this.child, 'close')
    this.child.stderr?.on('data', (chunk: Buffer) => (this.#stderr += chunk.toString()))
    this.child.stdin?.on('error', () => undefined)
    if (this.child.stdout === null) throw new Error('The child has no standard output.')
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      this.#stdout += `${line}\n`
      this.messages.push(relayMessageSchema.parse(JSON.parse(line)))
      this.child.emit('relay-message')
    })
  }

  /** All that the process wrote. */
  get output(): string {
    return this.#stdout + this.#stderr
  }

  configure(configure: RelayConfigure): Promise<RelayMessage & { readonly type: 'listening' }> {
    this.write(JSON.stringify(configure))
    return this.waitFor('listening')
  }

  write(line: string): void {
    this.child.stdin?.write(`${line}\n`)
  }

  async request(type: 'start' | 'reset' | 'stop'): Promise<RelayMessage & { readonly type: 'reply' }> {
    const id = this.#nextId++
    this.write(JSON.stringify({ type, id }))
    return this.#waitUntil((message): message is RelayMessage & { readonly type: 'reply' } => message.type === 'reply' && message.id === id)
  }

  waitFor<Type extends RelayMessage['type']>(type: Type): Promise<RelayMessage & { readonly type: Type }> {
    return this.#waitUntil((message): message is RelayMessage & { readonly type: Type } => message.type === type)
  }

  endInput(): void {
    this.child.stdin?.end()
  }

  async exitCode(): Promise<number | null> {
    await this.#ended
    return this.child.exitCode
  }

  async #waitUntil<Wanted extends RelayMessage>(isWanted: (message: RelayMessage) => message is Wanted): Promise<Wanted> {
    for (;;) {
      const found = this.messages.find(isWanted)
      if (found !== undefined) return found
      if (this.child.exitCode !== null) throw new Error(`relay-bin ended with ${this.child.exitCode} first:\n${this.output}`)
      await Promise.race([once(this.child, 'relay-message'), this.#ended])
    }
  }
}

/** Asks again and again until the condition holds; fails after the time given. */
export async function eventually(condition: () => Promise<boolean>, withinMs = 10_000): Promise<void> {
  const deadline = Date.now() + withinMs
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`The condition did not come true within ${withinMs} ms.`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
