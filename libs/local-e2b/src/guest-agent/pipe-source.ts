import { spawnSync } from 'node:child_process'
import { closeSync, constants, mkdirSync, openSync, rmSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { runtimeCommand } from './guest-runtime.ts'

export interface PipeEnds {
  readonly readEnd: number
  readonly writeEnd: number
}

const batchSize = 24

/**
 * Real pipes for commands. Node itself would give them sockets, on which `> /dev/stderr` fails; a named pipe that is opened at
 * both ends and unlinked behaves as the pipe a command expects.
 */
export class PipeSource {
  readonly #folder: string
  readonly #runtimeFolder: string
  #ready: string[] = []
  #made = 0

  constructor(folder: string, runtimeFolder: string) {
    this.#folder = folder
    this.#runtimeFolder = runtimeFolder
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { mode: 0o700, recursive: true })
  }

  /** A pipe whose write end goes to a command: the read end does not block, so that Node may poll it. */
  openForOutput(): PipeEnds {
    return this.#open((path) => {
      const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
      return { readEnd, writeEnd: openSync(path, constants.O_WRONLY) }
    })
  }

  /** A pipe whose read end goes to a command, which must find it blocking. */
  openForInput(): PipeEnds {
    return this.#open((path) => {
      const both = openSync(path, constants.O_RDWR)
      const readEnd = openSync(path, constants.O_RDONLY)
      const writeEnd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
      closeSync(both)
      return { readEnd, writeEnd }
    })
  }

  #open(openEnds: (path: string) => PipeEnds): PipeEnds {
    const path = this.#take()
    try {
      return openEnds(path)
    } finally {
      unlinkSync(path)
    }
  }

  #take(): string {
    if (this.#ready.length === 0) this.#makeBatch()
    const path = this.#ready.pop()
    if (path === undefined) throw new Error('no named pipe could be made')
    return path
  }

  #makeBatch(): void {
    const paths = Array.from({ length: batchSize }, () => join(this.#folder, String(this.#made++)))
    const [loader, ...rest] = runtimeCommand(this.#runtimeFolder, 'mkfifo')
    // Mode 666: a command that runs as another user may open its own `/dev/stdout` again.
    const result = spawnSync(loader, [...rest, '-m', '666', ...paths], { env: {} })
    if (result.status !== 0) throw new Error(`mkfifo failed: ${result.stderr.toString().trim()}`)
    this.#ready = paths
  }
}
