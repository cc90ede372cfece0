import { execa } from 'execa'
import { LocalE2bError, type LocalE2bErrorCode } from '../error.ts'

export interface HostCommand {
  readonly command: readonly string[]
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly failure: LocalE2bErrorCode
}

/** Runs a host program to its end and gives its standard output; a failure carries what it said. */
export async function runCommand(request: HostCommand): Promise<string> {
  const [file = '', ...rest] = request.command
  const result = await execa(file, rest, {
    cwd: request.cwd,
    env: request.environment,
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
  })
  if (result.exitCode === 0) return result.stdout
  const reason = result.stderr.trim() || result.shortMessage
  throw new LocalE2bError(request.failure, `${request.command.join(' ')} failed: ${reason}`, { cause: result })
}
