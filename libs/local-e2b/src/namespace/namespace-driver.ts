import { chmod, mkdir, readdir } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import type { BaseImage, RunningSandbox, SandboxDriver, StartRequest } from '../driver.ts'
import { LocalE2bError } from '../error.ts'
import { readProcessIdentity, type ProcessIdentity } from '../process-identity.ts'
import { fillBaseImage } from './base-image.ts'
import { fetchingEnvironment, hostEnvironment } from './host-environment.ts'
import type { HostNetworkSettings } from './host-network.ts'
import { guestIdMap, manageIdMap, type Account } from './id-map.ts'
import { openListeningSocket } from './listening-socket.ts'
import { runCommand } from './run-command.ts'
import { makeRuntimeFolder, readOptional } from './runtime-folder.ts'
import { hasLivingOwner, makeSandboxFolder } from './sandbox-folder.ts'
import { startSandboxProcess, type SandboxProcess } from './sandbox-process.ts'
import { openSocketPlace, type SocketPlace } from './socket-place.ts'
import { openUserNamespace, type UserNamespace } from './user-namespace.ts'

export interface NamespaceDriverOptions {
  /** Absolute. */
  readonly dataFolder: string
  /** The bundled guest agent, one CommonJS file. */
  readonly agentFile: string
  /** The Node program to run it with, usually `process.execPath`. */
  readonly nodeFile: string
  /** Who this process runs as. */
  readonly account: Account
  /** This process's id. */
  readonly pid: number
  /** The server's environment; host programs get only what `host-environment.ts` names of it. `PATH` is needed. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly hostNetwork: HostNetworkSettings
  readonly startTimeoutMs?: number
  /** First host id that stands for guest root when the server runs as root. */
  readonly rootShift?: number
  readonly log: (line: string) => void
}

interface Prepared {
  readonly guest: UserNamespace
  readonly manage: UserNamespace
  readonly runtimeFolder: string
  readonly owner: ProcessIdentity
}

/** Sandboxes by Linux namespaces: root and an ordinary account differ only in how the id map is written. */
export function createNamespaceDriver(options: NamespaceDriverOptions): SandboxDriver {
  return new NamespaceDriver(options)
}

class NamespaceDriver implements SandboxDriver {
  readonly #options: NamespaceDriverOptions
  readonly #passingPaths = new Map<string, readonly string[]>()
  readonly #living = new Set<RunningSandbox>()
  readonly #folders: { sandboxes: string; bases: string; layers: string; runtime: string }
  #prepared: Promise<Prepared> | undefined

  constructor(options: NamespaceDriverOptions) {
    this.#options = options
    const inside = (name: string) => join(options.dataFolder, name)
    this.#folders = { sandboxes: inside('sandboxes'), bases: inside('bases'), layers: inside('layers'), runtime: inside('runtime') }
  }

  async prepare(): Promise<void> {
    await this.#ready()
  }

  async start(request: StartRequest): Promise<RunningSandbox> {
    if (!/^[a-z0-9]+$/.test(request.id)) throw new LocalE2bError('start_failed', `${request.id} is no sandbox id; use letters and digits.`)
    const prepared = await this.#ready()
    const folder = join(this.#folders.sandboxes, request.id)
    const { dataFolder, hostNetwork, pid } = this.#options
    const lower = await makeSandboxFolder({ dataFolder, folder, start: request, hostNetwork, owner: prepared.owner })
    const socket = await openSocketPlace(folder, pid)
    try {
      await this.#manage('start_failed', ['sh', '-c', 'mkdir -m 755 upper work && chown 1:1 upper work'], folder)
      return this.#running(request, { folder, socket }, await this.#startProcess(prepared, request, { folder, lower, agentSocket: socket.path }))
    } catch (error) {
      await socket.close()
      await this.removeFolder(folder)
      throw error
    }
  }

  async makeBase(image: BaseImage, target: string, onLine: (line: string) => void): Promise<void> {
    const { guest } = await this.#ready()
    const partial = `${target}.partial`
    await this.removeFolder(partial)
    await mkdir(dirname(target), { recursive: true })
    try {
      await this.#manage('build_failed', ['sh', '-c', 'mkdir -m 755 "$1" && chown 1:1 "$1"', 'sh', basename(partial)], dirname(partial))
      await fillBaseImage({ image, folder: partial, enter: guest.enter, environment: fetchingEnvironment(this.#options.environment), onLine })
      await this.#manage('build_failed', ['mv', '-T', partial, target], dirname(target))
    } catch (error) {
      await this.removeFolder(partial)
      throw error
    }
  }

  async keepLayer(sandbox: RunningSandbox, target: string): Promise<void> {
    await sandbox.stop()
    const passing = [...(this.#passingPaths.get(sandbox.id) ?? [])].reverse()
    // A folder that was only made to hold a mount point goes too, unless the build put something there.
    const clean = 'for path do [ ! -d "$path" ] && rm -f "$path" || rmdir --ignore-fail-on-non-empty "$path"; done'
    await this.#manage('build_failed', ['sh', '-c', clean, 'sh', ...passing], sandbox.upperFolder)
    await mkdir(dirname(target), { recursive: true })
    await this.#manage('build_failed', ['mv', '-T', sandbox.upperFolder, target], dirname(target))
  }

  async removeFolder(folder: string): Promise<void> {
    const inside = relative(this.#options.dataFolder, folder)
    if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) {
      throw new LocalE2bError('data_folder_invalid', `${folder} is not inside ${this.#options.dataFolder}, so it is not removed.`)
    }
    await this.#manage('close_incomplete', ['rm', '-rf', '--one-file-system', '--', folder], this.#options.dataFolder)
  }

  async sweep(): Promise<readonly string[]> {
    await this.#ready()
    const swept: string[] = []
    for (const id of await readdir(this.#folders.sandboxes)) {
      const folder = join(this.#folders.sandboxes, id)
      if (await hasLivingOwner(folder)) continue
      await this.removeFolder(folder)
      this.#options.log(`removed ${folder}, whose owner is gone`)
      swept.push(id)
    }
    for (const parent of [this.#folders.bases, this.#folders.layers, this.#folders.runtime]) {
      for (const name of await readdir(parent)) if (name.endsWith('.partial')) await this.removeFolder(join(parent, name))
    }
    return swept
  }

  /** Ends what still runs, since nobody could end it later. */
  async close(): Promise<void> {
    await Promise.all([...this.#living].map((sandbox) => sandbox.destroy()))
    const prepared = await this.#prepared?.catch(() => undefined)
    this.#prepared = undefined
    await Promise.all([prepared?.guest.close(), prepared?.manage.close()])
  }

  #ready(): Promise<Prepared> {
    this.#prepared ??= this.#prepare()
    return this.#prepared
  }

  async #prepare(): Promise<Prepared> {
    const { account, agentFile, dataFolder, nodeFile, pid, rootShift = 200_000 } = this.#options
    const environment = hostEnvironment(this.#options.environment)
    const owner = await readProcessIdentity(pid)
    if (owner === undefined) throw new LocalE2bError('machine_unfit', `/proc/${pid}/stat cannot be read; /proc must be mounted.`)
    // Guest root, another account of the host, walks through these folders but must not list them.
    for (const folder of [dataFolder, ...Object.values(this.#folders)]) {
      await mkdir(folder, { recursive: true })
      await chmod(folder, 0o711)
    }
    const runtimeFolder = await makeRuntimeFolder({ folder: this.#folders.runtime, nodeFile, agentFile, environment })
    const facts = { account, rootShift, subuidText: await readOptional('/etc/subuid'), subgidText: await readOptional('/etc/subgid') }
    const open = (map: ReturnType<typeof guestIdMap>) => openUserNamespace({ map, asRoot: account.uid === 0, cwd: dataFolder, environment })
    const guest = await open(guestIdMap(facts))
    try {
      return { guest, manage: await open(manageIdMap(facts)), runtimeFolder, owner }
    } catch (error) {
      await guest.close()
      throw error
    }
  }

  async #startProcess(prepared: Prepared, request: StartRequest, place: { folder: string; lower: string; agentSocket: string }): Promise<SandboxProcess> {
    const socket = await openListeningSocket(place.agentSocket)
    const { environment, hostNetwork, startTimeoutMs = 30_000 } = this.#options
    const extra = request.network === 'host' ? hostNetwork.environment : {}
    const agent = { ...request.defaults, environment: { ...extra, ...request.defaults.environment } }
    const starting = startSandboxProcess({
      folder: place.folder,
      agentSocket: place.agentSocket,
      socket,
      enter: prepared.guest.enter,
      setupArguments: [relative(place.folder, prepared.runtimeFolder), request.hostname, request.network, place.lower],
      environment: { PATH: environment.PATH ?? '', LOCAL_E2B_AGENT: JSON.stringify(agent) },
      startTimeoutMs,
    })
    await socket.release()
    return starting
  }

  #running(request: StartRequest, { folder, socket }: { folder: string; socket: SocketPlace }, started: SandboxProcess): RunningSandbox {
    this.#passingPaths.set(request.id, started.passingPaths)
    let destroyed: Promise<void> | undefined
    const destroy = async () => {
      await started.kill()
      await this.removeFolder(folder)
      await socket.close()
      this.#passingPaths.delete(request.id)
      this.#living.delete(sandbox)
    }
    const sandbox: RunningSandbox = {
      id: request.id,
      folder,
      agentSocket: socket.path,
      initPid: started.initPid,
      upperFolder: join(folder, 'upper'),
      exited: started.exited,
      stop: () => started.kill(),
      // One that failed may be tried again.
      destroy: () => (destroyed ??= destroy().catch((error: unknown) => { destroyed = undefined; throw error })),
    }
    this.#living.add(sandbox)
    return sandbox
  }

  async #manage(failure: 'start_failed' | 'build_failed' | 'close_incomplete', command: readonly string[], cwd: string): Promise<void> {
    const { manage } = await this.#ready()
    await runCommand({ command: [...manage.enter, ...command], cwd, environment: hostEnvironment(this.#options.environment), failure })
  }
}
