import type { IncomingMessage, ServerResponse } from 'node:http'
import type { GuestAccount } from './accounts.ts'
import type { AgentDefaults } from './defaults.ts'
import { EventStream } from './event-stream.ts'
import { startFolder } from './guest-path.ts'
import { startProcess, type GuestProcess, type ProcessConfig } from './guest-process.ts'
import { bytesField, flagField, integerField, messageField, textField, textListField, textMapField, type Message } from './message.ts'
import type { PipeSource } from './pipe-source.ts'
import { durationHeader } from './request.ts'
import { RpcError } from './rpc-error.ts'

/** How long the result of a finished process waits for a late `Connect`. */
const resultRetentionMs = 30_000
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export interface ProcessServiceParts {
  readonly defaults: AgentDefaults
  readonly pipes: PipeSource
  readonly runtimeFolder: string
}

export interface StreamCall {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly message: Message
  readonly account: GuestAccount
}

/** E2B's process service over the commands that were started through it. */
export class ProcessService {
  readonly #parts: ProcessServiceParts
  readonly #running = new Set<GuestProcess>()
  readonly #finished = new Set<GuestProcess>()

  constructor(parts: ProcessServiceParts) {
    this.#parts = parts
  }

  async start(call: StreamCall): Promise<void> {
    const stream = new EventStream(call.request, call.response, { event: { keepalive: {} } })
    try {
      const started = await this.#spawn(call.message, call.account)
      this.#remember(started)
      const timeoutMs = durationHeader(call.request, 'connect-timeout-ms', 1)
      // The limit is the command's, whether or not its caller stays.
      if (timeoutMs !== undefined) endAfter(started, timeoutMs, () => {
        started.signal('SIGKILL')
        stream.fail(new RpcError('deadline_exceeded', 'the command ran longer than its time limit'))
      })
      this.#follow(started, stream)
    } catch (error) {
      stream.fail(error)
    }
  }

  connect(call: StreamCall): void {
    const stream = new EventStream(call.request, call.response, { event: { keepalive: {} } })
    try {
      const found = this.#select(call.message, [...this.#running, ...this.#finished])
      const timeoutMs = durationHeader(call.request, 'connect-timeout-ms', 1)
      if (timeoutMs !== undefined) endAfter(found, timeoutMs, () => {
        stream.fail(new RpcError('deadline_exceeded', 'the connection reached its time limit'))
      })
      this.#follow(found, stream)
    } catch (error) {
      stream.fail(error)
    }
  }

  list(): object {
    return { processes: [...this.#running].map(({ config, pid, tag }) => ({ config, pid, ...(tag === undefined ? {} : { tag }) })) }
  }

  /** SIGKILL is answered only when the process is reaped, since a caller may look for it next. */
  async sendSignal(message: Message): Promise<object> {
    const found = this.#select(message, [...this.#running])
    switch (message.signal) {
      case 'SIGNAL_SIGKILL':
      case 9:
        found.signal('SIGKILL')
        await found.reaped
        return {}
      case 'SIGNAL_SIGTERM':
      case 15:
        found.signal('SIGTERM')
        return {}
      default:
        throw new RpcError('invalid_argument', `unknown signal ${JSON.stringify(message.signal)}`)
    }
  }

  async sendInput(message: Message): Promise<object> {
    const found = this.#select(message, [...this.#running])
    const bytes = bytesField(messageField(message, 'input'), 'stdin')
    if (bytes === undefined) throw new RpcError('unimplemented', 'only input to stdin is offered')
    await found.write(bytes)
    return {}
  }

  closeStdin(message: Message): object {
    this.#select(message, [...this.#running]).closeInput()
    return {}
  }

  async #spawn(message: Message, account: GuestAccount): Promise<GuestProcess> {
    if (message.pty !== undefined && message.pty !== null) throw new RpcError('unimplemented', 'terminals are not offered')
    const { defaults, pipes, runtimeFolder } = this.#parts
    const config = parseConfig(messageField(message, 'process'))
    const home = { PATH: defaultPath, HOME: account.home, USER: account.name, LOGNAME: account.name }
    const request = {
      config,
      tag: textField(message, 'tag') || undefined,
      account,
      cwd: startFolder(config.cwd ?? '', account, defaults),
      environment: { ...home, ...defaults.environment, ...config.envs },
      withStdin: flagField(message, 'stdin'),
    }
    return startProcess(request, pipes, runtimeFolder)
  }

  #remember(started: GuestProcess): void {
    this.#running.add(started)
    void started.ended.then(() => {
      this.#running.delete(started)
      this.#finished.add(started)
      setTimeout(() => this.#finished.delete(started), resultRetentionMs).unref()
    })
  }

  #follow(followed: GuestProcess, stream: EventStream): void {
    stream.send({ event: { start: { pid: followed.pid } } })
    const leave = followed.listen({
      event: (event) => {
        const keepsUp = stream.send({ event })
        if (event.end !== undefined) stream.end()
        return keepsUp
      },
      whenDrained: (listener) => { stream.whenDrained(listener) },
    })
    stream.onClose(() => {
      leave()
      followed.resume()
    })
  }

  #select(message: Message, among: readonly GuestProcess[]): GuestProcess {
    const selector = messageField(message, 'process')
    const pid = integerField(selector, 'pid')
    const tag = textField(selector, 'tag')
    const found = among.find((each) => pid !== undefined ? each.pid === pid : tag !== '' && each.tag === tag)
    if (found === undefined) throw new RpcError('not_found', `process with ${pid === undefined ? `tag ${tag}` : `pid ${pid}`} not found`)
    return found
  }
}

function endAfter(limited: GuestProcess, timeoutMs: number, expire: () => void): void {
  const timer = setTimeout(expire, Math.min(timeoutMs, 2 ** 31 - 1))
  void limited.ended.then(() => { clearTimeout(timer) })
}

function parseConfig(message: Message): ProcessConfig {
  const cwd = textField(message, 'cwd')
  return {
    cmd: textField(message, 'cmd'),
    args: textListField(message, 'args'),
    envs: textMapField(message, 'envs'),
    ...(cwd === '' ? {} : { cwd }),
  }
}
