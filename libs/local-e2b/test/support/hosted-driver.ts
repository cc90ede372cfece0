import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { BaseImage, NetworkMode, SandboxDefaults } from '../../src/driver.ts'
import type { HostNetworkSettings } from '../../src/namespace/index.ts'
import type { TestAccount } from './test-account.ts'

export interface HostedSandbox {
  readonly id: string
  readonly folder: string
  readonly agentSocket: string
  readonly initPid: number
  readonly upperFolder: string
}

export interface HostedDriverOptions {
  readonly account: TestAccount
  readonly program: string
  readonly agentFile: string
  readonly dataFolder: string
  readonly hostNetwork?: HostNetworkSettings
  readonly startTimeoutMs?: number
}

const rootDefaults: SandboxDefaults = { user: 'root', workdir: '', environment: {} }

/** A driver in a process of its own, run as a given account. */
export class HostedDriver {
  readonly process: ChildProcess
  readonly dataFolder: string
  readonly exits: string[] = []
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  #number = 0

  constructor(options: HostedDriverOptions) {
    const { account, program, agentFile, dataFolder, hostNetwork = { environment: {}, files: { 'resolv.conf': '' } }, startTimeoutMs = 30_000 } = options
    this.dataFolder = dataFolder
    const environment = { PATH: process.env.PATH ?? '' }
    const driverOptions = { account, agentFile, dataFolder, environment, hostNetwork, startTimeoutMs }
    const identity = account.uid === process.getuid?.() ? {} : { uid: account.uid, gid: account.gid }
    this.process = spawn(process.execPath, [program, JSON.stringify(driverOptions)], { ...identity, cwd: '/', env: environment, stdio: ['pipe', 'pipe', 'inherit'] })
    if (this.process.stdout !== null) createInterface({ input: this.process.stdout }).on('line', (line) => { this.#receive(line) })
    this.process.once('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the driver process ended'))
    })
  }

  start(request: { id: string; layers: readonly string[]; defaults?: SandboxDefaults; network?: NetworkMode; hostname?: string }): Promise<HostedSandbox> {
    const full = { defaults: rootDefaults, network: 'loopback', hostname: 'guest', ...request }
    return this.#order({ do: 'start', request: full }) as Promise<HostedSandbox>
  }

  async stop(sandbox: HostedSandbox): Promise<void> {
    await this.#order({ do: 'stop', sandbox: sandbox.id })
  }

  async destroy(sandbox: HostedSandbox): Promise<void> {
    await this.#order({ do: 'destroy', sandbox: sandbox.id })
  }

  async keepLayer(sandbox: HostedSandbox, target: string): Promise<void> {
    await this.#order({ do: 'keepLayer', sandbox: sandbox.id, target })
  }

  makeBase(image: BaseImage, target: string): Promise<readonly string[]> {
    return this.#order({ do: 'makeBase', image, target }) as Promise<readonly string[]>
  }

  async removeFolder(folder: string): Promise<void> {
    await this.#order({ do: 'removeFolder', folder })
  }

  async prepare(): Promise<void> {
    await this.#order({ do: 'prepare' })
  }

  sweep(): Promise<readonly string[]> {
    return this.#order({ do: 'sweep' }) as Promise<readonly string[]>
  }

  async close(): Promise<void> {
    await this.#order({ do: 'close' })
    this.process.stdin?.end()
    await this.ended()
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL')
    await this.ended()
  }

  async ended(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) await once(this.process, 'close')
  }

  #order(order: object): Promise<unknown> {
    const number = this.#number++
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject })
      this.process.stdin?.write(`${JSON.stringify({ number, order })}\n`)
    })
  }

  #receive(line: string): void {
    const message = JSON.parse(line) as { number?: number; result?: unknown; error?: string; code?: string; exited?: string }
    if (message.exited !== undefined) this.exits.push(message.exited)
    if (message.number === undefined) return
    const waiting = this.#waiting.get(message.number)
    this.#waiting.delete(message.number)
    if (message.error === undefined) waiting?.resolve(message.result)
    else waiting?.reject(Object.assign(new Error(message.error), { code: message.code }))
  }
}
