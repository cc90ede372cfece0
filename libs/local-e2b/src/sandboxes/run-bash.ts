import { runInSandbox, type CommandResult, type SandboxCommand } from '../agent-client/index.ts'

/** A shell line for a guest, run as E2B runs it: by a login bash. */
export type BashCommand = Omit<SandboxCommand, 'command'> & { readonly command: string }

export function runBash(asked: BashCommand): Promise<CommandResult> {
  return runInSandbox({ ...asked, command: ['/bin/bash', '-l', '-c', asked.command] })
}
