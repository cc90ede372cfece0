/** Which network a sandbox sees: only its own loopback, or (while a template is built) the host's. */
export type NetworkMode = 'loopback' | 'host'

export interface SandboxDefaults {
  /** Account that commands run as when the caller names none. */
  readonly user: string
  readonly workdir: string
  readonly environment: Readonly<Record<string, string>>
}

export interface StartRequest {
  /** `[a-z0-9]+`; also the name of the sandbox's folder. */
  readonly id: string
  /** Overlay lower folders, topmost first. */
  readonly layers: readonly string[]
  readonly defaults: SandboxDefaults
  readonly network: NetworkMode
  readonly hostname: string
}

/** A started sandbox: its namespaces are up and its guest agent answers on `agentSocket`. */
export interface RunningSandbox {
  readonly id: string
  /** Host folder of this sandbox; the guest cannot see it. */
  readonly folder: string
  /**
   * Unix socket on which the guest agent speaks HTTP/1.1: E2B's process and file services, and
   * `CONNECT 127.0.0.1:<port>` for a port of the guest's loopback (502 when closed). Only the host can reach it.
   */
  readonly agentSocket: string
  /** Host pid of the sandbox's pid 1. */
  readonly initPid: number
  /** Overlay upper folder: what the sandbox changed. */
  readonly upperFolder: string
  /** Resolves once no process of the sandbox is left, for whatever reason; never rejects. */
  readonly exited: Promise<void>
  /** Kills every process and waits for the kernel to have ended them; keeps the folder. Idempotent. */
  stop(): Promise<void>
  /** `stop`, then removes the folder. Idempotent. */
  destroy(): Promise<void>
}

export interface BaseImage {
  readonly suite: string
  readonly variant: string
  readonly packages: readonly string[]
  readonly aptOptions: readonly string[]
  readonly dpkgOptions: readonly string[]
}

/** What the server needs of this machine. One implementation: Linux namespaces. */
export interface SandboxDriver {
  /** Makes the id-map holder and the read-only runtime folder; refuses with the exact missing capability. */
  prepare(): Promise<void>
  start(request: StartRequest): Promise<RunningSandbox>
  /** Runs one `mmdebstrap` into `target` (made beside it and renamed at the end). */
  makeBase(image: BaseImage, target: string, onLine: (line: string) => void): Promise<void>
  /** Moves a stopped sandbox's upper folder to `target`, to serve as a layer. */
  keepLayer(sandbox: RunningSandbox, target: string): Promise<void>
  /** Removes a folder whose files have mapped owners. */
  removeFolder(folder: string): Promise<void>
  /** Removes sandbox folders whose owner process is gone; returns their ids. */
  sweep(): Promise<readonly string[]>
  close(): Promise<void>
}
