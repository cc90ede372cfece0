import { type Cleanup, type GuestPorts, type RelayConfigure, type RelayMessage, relayMessageSchema } from '@osworld-e2b/contracts'
import type { Redactor } from '@osworld-e2b/redaction'
import { type Child, type ChildCommand, startChild } from './child-process.ts'
import { within } from './deadline.ts'
import { readLines } from './json-lines.ts'

export type RelayReply = Extract<RelayMessage, { type: 'reply' }>

export interface RelayLoss {
  readonly reason: 'guest_lost' | 'relay_failed'
  readonly message: string
}

export interface RelayProcess {
  readonly ports: GuestPorts
  request(type: 'start' | 'reset' | 'stop'): Promise<RelayReply>
  /** Resolves when its sandbox or the process itself is lost before `close`; else stays pending. */
  readonly lost: Promise<RelayLoss>
  /** Ends its standard input, so it kills its sandbox; forces after the deadline. Undefined when it never said how that went. */
  close(deadlineMs: number): Promise<Cleanup | undefined>
}

export interface RelayLaunch {
  readonly command: ChildCommand
  readonly configure: RelayConfigure
  readonly stderrFile: string
  readonly redactor?: Redactor
  readonly startDeadlineMs: number
}

/** Starts `relay-bin` and waits until its listeners are bound. Throws when that does not happen in time. */
export async function startRelayProcess(launch: RelayLaunch): Promise<RelayProcess> {
  const child = await startChild(launch.command, { stderrFile: launch.stderrFile, ...(launch.redactor === undefined ? {} : { redactor: launch.redactor }) })
  const link = new RelayLink(child)
  child.stdin.write(`${JSON.stringify(launch.configure)}\n`)
  const ports = await within(launch.startDeadlineMs, Promise.race([link.listening, child.exited.then(() => undefined)]))
  if (ports === undefined) {
    child.kill()
    const { exitCode } = await child.exited
    throw new Error(`relay-bin did not listen within ${launch.startDeadlineMs / 1000} s (exit code ${exitCode ?? 'none'}); its log is ${launch.stderrFile}.`)
  }
  return link.asProcess(ports)
}

class RelayLink {
  readonly listening: Promise<GuestPorts>
  readonly #child: Child
  readonly #read: Promise<void>
  readonly #pending = new Map<number, (reply: RelayReply) => void>()
  #onListening: (ports: GuestPorts) => void = () => undefined
  #onLost: (loss: RelayLoss) => void = () => undefined
  #cleanup: Cleanup | undefined
  #isClosing = false
  /** Why nothing can be asked of it any more. */
  #gone: string | undefined
  #nextId = 1

  constructor(child: Child) {
    this.#child = child
    this.listening = new Promise((resolve) => {
      this.#onListening = resolve
    })
    this.#read = readLines(child.stdout, { onLine: (line) => this.#take(line), onTooLong: () => this.#take('a line without an end') })
  }

  asProcess(ports: GuestPorts): RelayProcess {
    const lost = new Promise<RelayLoss>((resolve) => {
      this.#onLost = resolve
      void this.#child.exited.then(({ exitCode, signal }) => {
        if (this.#isClosing) return
        const message = `relay-bin ended in mid-attempt (exit code ${exitCode ?? 'none'}, signal ${signal ?? 'none'}).`
        this.#gone = message
        this.#failPending(message)
        resolve({ reason: 'relay_failed', message })
      })
    })
    return { ports, lost, request: (type) => this.#request(type), close: (deadlineMs) => this.#close(deadlineMs) }
  }

  #request(type: 'start' | 'reset' | 'stop'): Promise<RelayReply> {
    if (this.#gone !== undefined) return Promise.resolve({ type: 'reply', id: 0, ok: false, error: { code: 'relay_failed', message: this.#gone } })
    const id = this.#nextId
    this.#nextId += 1
    return new Promise((resolve) => {
      this.#pending.set(id, resolve)
      this.#child.stdin.write(`${JSON.stringify({ type, id })}\n`)
    })
  }

  async #close(deadlineMs: number): Promise<Cleanup | undefined> {
    this.#isClosing = true
    this.#child.stdin.end()
    const exit = await within(deadlineMs, this.#child.exited)
    if (exit === undefined) {
      this.#child.kill()
      await this.#child.exited
    }
    await this.#read
    return this.#cleanup
  }

  #take(line: string): void {
    const parsed = relayMessageSchema.safeParse(parseJson(line))
    if (!parsed.success) {
      this.#onLost({ reason: 'relay_failed', message: `relay-bin wrote a line that is no message (${line.slice(0, 200)}).` })
      return
    }
    const message = parsed.data
    switch (message.type) {
      case 'listening':
        return this.#onListening(message.ports)
      case 'lost':
        return this.#onLost({ reason: message.reason, message: message.message })
      case 'stopped':
        this.#cleanup = message.cleanup
        return
      case 'reply':
        this.#pending.get(message.id)?.(message)
        this.#pending.delete(message.id)
    }
  }

  #failPending(message: string): void {
    for (const [id, resolve] of this.#pending) resolve({ type: 'reply', id, ok: false, error: { code: 'relay_failed', message } })
    this.#pending.clear()
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
