import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { createRedactor, type Redactor } from '@osworld-e2b/redaction'
import { execa, type Options } from 'execa'
import { captureOutput, type CapturedOutput, defaultOutputLimitBytes, type OutputCapture } from './captured-output.ts'
import { within } from './deadline.ts'

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
  /** Resolves once the child has ended and its output files are complete; never rejects. */
  readonly exited: Promise<ChildExit>
  /** What became of each output file; never rejects. */
  readonly captured: Promise<{ readonly stderr: CapturedOutput; readonly stdout?: CapturedOutput }>
  /** SIGKILL to the whole process group. */
  kill(): void
}

/** Where a child's output goes: a file (appended), or, for standard output, a pipe to read. */
export interface ChildOutput {
  readonly stdoutFile?: string
  readonly stderrFile: string
  /** What hides secrets in the files; without it only what looks like a token is hidden. */
  readonly redactor?: Redactor
  /** Bytes of each file beyond which the middle is cut; 64 MiB unless said. */
  readonly limitBytes?: number
}

/** How long an ended child's output is still read: a process that it left behind may hold the pipe open for ever. */
const lastOutputMs = 1_000

/**
 * Starts a child as leader of its own process group, so that a terminal's Ctrl-C reaches only the coordinator and the
 * whole group can be ended. Throws when it cannot be started.
 */
export async function startChild(command: ChildCommand, output: ChildOutput): Promise<Child> {
  const files = await openFiles(output)
  const options: Options = {
    cwd: command.cwd,
    env: { ...command.environment },
    extendEnv: false,
    detached: true,
    cleanup: false,
    reject: false,
    buffer: false,
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  }
  const child = execa(command.file, command.args, options)
  const { pid, stdin, stdout, stderr } = child
  if (pid === undefined || stdin === null || stdout === null || stderr === null) {
    await Promise.all([files.stderr.close(), files.stdout?.close()])
    throw new Error(`${command.file} could not be started: ${(await child).shortMessage ?? 'no reason given'}`)
  }
  // A child that ends early closes its pipe; its exit says so, the write error adds nothing.
  stdin.on('error', () => undefined)
  const ended = new Promise<ChildExit>((resolve) => {
    child.once('exit', (exitCode, signal) => resolve({ exitCode: exitCode ?? undefined, signal: signal ?? undefined }))
  })
  const { redactor = createRedactor([]), limitBytes = defaultOutputLimitBytes } = output
  const capture = (source: Readable, file: FileHandle) => completed(captureOutput({ source, file, redactor, limitBytes }), ended)
  const captured = Promise.all([capture(stderr, files.stderr), files.stdout === undefined ? undefined : capture(stdout, files.stdout)])
  return {
    pid,
    stdin,
    stdout: files.stdout === undefined ? stdout : Readable.from([]),
    exited: Promise.all([ended, captured]).then(([exit]) => exit),
    captured: captured.then(([error, out]) => ({ stderr: error, ...(out === undefined ? {} : { stdout: out }) })),
    kill: () => killGroup(pid),
  }
}

/** Before there is a child, so that a folder that cannot be written is a refusal to start. */
async function openFiles({ stdoutFile, stderrFile }: ChildOutput): Promise<{ stderr: FileHandle; stdout?: FileHandle }> {
  const stderr = await open(stderrFile, 'a')
  if (stdoutFile === undefined) return { stderr }
  try {
    return { stderr, stdout: await open(stdoutFile, 'a') }
  } catch (error) {
    await stderr.close()
    throw error
  }
}

async function completed(capture: OutputCapture, ended: Promise<unknown>): Promise<CapturedOutput> {
  await ended
  if ((await within(lastOutputMs, capture.done)) === undefined) capture.stop()
  return capture.done
}

function killGroup(pid: number): void {
  endProcess(-pid)
}

/** SIGKILL to a process, or to a group by its negative number; one that is gone is fine. */
export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
