import { LocalE2bError } from '../error.ts'
import { authorization, requestAgent } from './agent-request.ts'
import { readEnvelopes } from './envelopes.ts'

export interface SandboxCommand {
  readonly agentSocket: string
  /** Program and arguments; nothing is added to them. */
  readonly command: readonly [string, ...string[]]
  /** The sandbox's default account and folder when absent. */
  readonly user?: string
  readonly cwd?: string
  /** Added to the sandbox's default environment. */
  readonly environment?: Readonly<Record<string, string>>
  readonly onOutput?: (stream: 'stdout' | 'stderr', chunk: Buffer) => void
  /** Ends the command as well as the wait. */
  readonly signal?: AbortSignal
}

export interface CommandResult {
  /** -1 when a signal ended it. */
  readonly exitCode: number
  /** `exit status 3`, `signal: SIGKILL`. */
  readonly status: string
}

interface StartReply {
  readonly event?: {
    readonly start?: { readonly pid: number }
    readonly data?: Readonly<Partial<Record<'stdout' | 'stderr', string>>>
    readonly end?: CommandResult
  }
  readonly error?: { readonly code?: string; readonly message?: string }
}

/** How long an aborted caller waits for its command to be killed in a sandbox that may be dying itself. */
const killTimeoutMs = 5_000

/** Runs one command in a sandbox to its end. The agent's refusals have code `agent_refused`; an abort is thrown as its reason. */
export async function runInSandbox(asked: SandboxCommand): Promise<CommandResult> {
  let pid: number | undefined
  try {
    for await (const reply of startReplies(asked)) {
      if (reply.error !== undefined) throw refusalOf(reply.error)
      pid = reply.event?.start?.pid ?? pid
      report(reply, asked)
      if (reply.event?.end !== undefined) return { exitCode: reply.event.end.exitCode, status: reply.event.end.status }
    }
  } catch (error) {
    if (asked.signal?.aborted !== true) throw error
    if (pid !== undefined) await killCommand(asked.agentSocket, pid)
    throw asked.signal.reason
  }
  throw new LocalE2bError('agent_unreachable', `The sandbox of ${asked.agentSocket} ended while this ran: ${asked.command.join(' ')}`)
}

async function* startReplies(asked: SandboxCommand): AsyncGenerator<StartReply> {
  const [cmd, ...args] = asked.command
  const message = { process: { cmd, args, envs: asked.environment ?? {}, ...(asked.cwd === undefined ? {} : { cwd: asked.cwd }) } }
  const body = Buffer.from(JSON.stringify(message))
  const head = Buffer.alloc(5)
  head.writeUInt32BE(body.length, 1)
  const response = await requestAgent({
    agentSocket: asked.agentSocket,
    method: 'POST',
    path: '/process.Process/Start',
    headers: { 'content-type': 'application/connect+json', ...authorization(asked.user) },
    body: Buffer.concat([head, body]),
    ...(asked.signal === undefined ? {} : { signal: asked.signal }),
  })
  try {
    for await (const reply of readEnvelopes(response)) yield reply as StartReply
  } catch (cause) {
    if (cause instanceof LocalE2bError) throw cause
    throw new LocalE2bError('agent_unreachable', `The sandbox of ${asked.agentSocket} went away while this ran: ${asked.command.join(' ')}`, { cause })
  }
}

function refusalOf(error: NonNullable<StartReply['error']>): LocalE2bError {
  return new LocalE2bError('agent_refused', `${error.code ?? 'unknown'}: ${error.message ?? ''}`)
}

function report(reply: StartReply, asked: SandboxCommand): void {
  for (const stream of ['stdout', 'stderr'] as const) {
    const data = reply.event?.data?.[stream]
    if (data !== undefined) asked.onOutput?.(stream, Buffer.from(data, 'base64'))
  }
}

async function killCommand(agentSocket: string, pid: number): Promise<void> {
  try {
    const response = await requestAgent({
      agentSocket,
      method: 'POST',
      path: '/process.Process/SendSignal',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ process: { pid }, signal: 'SIGNAL_SIGKILL' }),
      signal: AbortSignal.timeout(killTimeoutMs),
    })
    response.resume()
  } catch (error) {
    // A sandbox that does not answer has no command to kill any more, or is about to lose it.
    if (!(error instanceof LocalE2bError)) throw error
  }
}
