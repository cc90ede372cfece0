import { open } from 'node:fs/promises'
import { Readable, type Writable } from 'node:stream'
import { execa, type Options } from 'execa'

export interface ChildCommand {
  readonly file: string
  readonly args: readonly string[]
  /** All of the child's environment; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>
  readonly cwd: string
}

export interface ChildExit {
  readonly exitCode: number | undefined
  readonly signal: string | undefined
}

export interface Child {
  readonly pid: number
  readonly stdin: NodeJS.WritableStream
  readonly stdout: Readable
  /** Never rejects. */
  readonly exited: Promise<ChildExit>
  /** SIGKILL to the whole process group. */
  kill(): void
}

/** Where a child's output goes: a file (appended), or, for standard output, a pipe to read. */
export interface ChildOutput {
  readonly stdoutFile?: string
  readonly stderrFile: string
}

/**
 * Starts a child as leader of its own process group, so that a terminal's Ctrl-C reaches only the coordinator and the
 * whole group can be ended. Throws when it cannot be started.
 */
export async function startChild(command: ChildCommand, output: ChildOutput): Promise<Child> {
  const stderr = await appendTo(output.stderrFile)
  let stdout: Writable | undefined
  try {
    if (output.stdoutFile !== undefined) stdout = await appendTo(output.stdoutFile)
    const options: Options = {
      cwd: command.cwd,
      env: { ...command.environment },
      extendEnv: false,
      detached: true,
      cleanup: false,
      reject: false,
      buffer: false,
      stdin: 'pipe',
      stdout: stdout ?? 'pipe',
      stderr,
    }
    const child = execa(command.file, command.args, options)
    const { pid, stdin } = child
    if (pid === undefined || stdin === null) throw new Error(`${command.file} could not be started: ${(await child).shortMessage ?? 'no reason given'}`)
    // A child that ends early closes its pipe; its exit says so, the write error adds nothing.
    stdin.on('error', () => undefined)
    return {
      pid,
      stdin,
      stdout: child.stdout ?? Readable.from([]),
      exited: child.then(({ exitCode, signal }) => ({ exitCode, signal })),
      kill: () => killGroup(pid),
    }
  } finally {
    stderr.destroy()
    stdout?.destroy()
  }
}

/** Only its descriptor is used: the child writes to the file itself. */
async function appendTo(path: string): Promise<Writable> {
  return (await open(path, 'a')).createWriteStream()
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
