import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { RpcError } from './rpc-error.ts'

/** Finds a command as a shell would: by `PATH` unless it holds a slash; refused when it cannot be run. */
export function findCommand(command: string, path: string, cwd: string): string {
  if (command === '') throw new RpcError('invalid_argument', 'the command is empty')
  if (command.includes('/')) {
    if (isProgram(command.startsWith('/') ? command : join(cwd, command))) return command
  } else {
    for (const folder of path.split(':')) {
      const file = join(folder || cwd, command)
      if (isProgram(file)) return file
    }
  }
  throw new RpcError('invalid_argument', `error starting process: ${command}: no such program in this sandbox`)
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    // Any reason why it cannot be looked at means that it cannot be run either.
    return false
  }
}
