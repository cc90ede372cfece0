import { chown, mkdir, mkdtemp, readFile, readdir, readlink, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { checkConfinement, confineAttempt, type Bubblewrap, type ConfineAttemptOptions, type ConfinedCommand, type Python } from '../src/index.ts'

/** A run folder with two attempts, a Python environment, and what an attempt is shown, all in one temporary folder. */
export class AttemptStand {
  readonly root: string
  readonly python: Python
  readonly bubblewrap: Bubblewrap
  readonly #control: Server
  readonly #received: string[] = []

  private constructor(root: string, python: Python, bubblewrap: Bubblewrap) {
    this.root = root
    this.python = python
    this.bubblewrap = bubblewrap
    this.#control = createServer((socket) => socket.on('data', (data) => this.#received.push(String(data))).on('end', () => socket.end()))
  }

  static async open(python: Python): Promise<AttemptStand> {
    const check = await checkConfinement({ environment: process.env })
    if (check.kind === 'refused') throw new Error(check.reason)
    const stand = new AttemptStand(await realpath(await mkdtemp(join(tmpdir(), 'stand-'))), python, check.bubblewrap)
    await stand.#fill()
    return stand
  }

  get received(): string {
    return this.#received.join('')
  }

  get attemptFolder(): string {
    return this.path('runs/one/attempts/os/task/1.1')
  }

  path(relative: string): string {
    return join(this.root, relative)
  }

  /** The confined command that runs a Python text. */
  command(
    script: string,
    environment: Readonly<Record<string, string>> = {},
    more: Pick<ConfineAttemptOptions, 'renamedPaths' | 'limits'> = {},
  ): ConfinedCommand {
    const folder = this.path('environment')
    return confineAttempt({
      bubblewrap: this.bubblewrap,
      python: { python: join(folder, 'bin/python'), folder, basePrefix: this.python.basePrefix },
      args: ['-c', script],
      environment,
      adapterFolder: this.path('adapter'),
      profileFolder: this.path('profile'),
      readOnlyPaths: [this.path('suite/task.json')],
      ...more,
      runFolder: this.path('runs/one'),
      attemptFolder: this.attemptFolder,
      controlSocket: this.path('control.sock'),
    })
  }

  /** Standard output of a Python text that runs confined; with an environment around bubblewrap that must not come through. */
  async run(script: string, environment: Readonly<Record<string, string>> = {}): Promise<string> {
    const { file, args, cwd } = this.command(script, environment)
    return (await execa(file, args, { cwd, env: { HOST_SECRET: 'leaked' }, extendEnv: false, stdin: 'ignore' })).stdout
  }

  /** The same Python text as an ordinary process of this user: what it gains then is what confinement has to take from it. */
  async runUnconfined(script: string): Promise<string> {
    return (await execa(this.path('environment/bin/python'), ['-c', script], { cwd: this.attemptFolder, env: {}, extendEnv: false, stdin: 'ignore' })).stdout
  }

  /** Gives everything to another user. */
  async giveTo(uid: number): Promise<void> {
    await chown(this.root, uid, uid)
    for (const entry of await readdir(this.root, { recursive: true, withFileTypes: true })) {
      if (!entry.isSymbolicLink()) await chown(join(entry.parentPath, entry.name), uid, uid)
    }
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.#control.close(resolve))
    await rm(this.root, { recursive: true, force: true })
  }

  async #fill(): Promise<void> {
    const files = {
      'adapter/adapter.py': 'name = "adapter"\n',
      'profile/adjustments.json': '{}',
      'suite/task.json': '{"id": "task"}',
      'suite/other.json': 'other task',
      'runs/one/attempts.jsonl': 'ledger',
      'runs/one/attempts/os/task/1.1/attempt.json': '{}',
      'runs/one/attempts/os/task/1.2/result.txt': 'sibling',
      'home/.ssh/id_ed25519': 'private',
    }
    for (const [path, content] of Object.entries(files)) {
      await mkdir(join(this.path(path), '..'), { recursive: true })
      await writeFile(this.path(path), content)
    }
    await execa(this.python.path, ['-I', '-m', 'venv', '--without-pip', this.path('environment')])
    await new Promise<void>((resolve) => this.#control.listen(this.path('control.sock'), resolve))
  }
}

/** Host pids of the processes in a pid namespace, named as `/proc/<pid>/ns/pid` links to it. */
export async function processesInNamespace(namespace: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const links = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/ns/pid`).catch(() => 'ended meanwhile')))
  return pids.filter((_, index) => links[index] === namespace).map(Number)
}

/** Checks again and again until it holds; throws what it still was at the deadline. */
export async function until<Value>(look: () => Promise<Value>, holds: (value: Value) => boolean): Promise<Value> {
  const deadline = Date.now() + 20_000
  for (;;) {
    const value = await look()
    if (holds(value)) return value
    if (Date.now() > deadline) throw new Error(`Still ${JSON.stringify(value)} after 20 seconds.`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

export async function readText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined)
}
