import type { RunningSandbox } from '../driver.ts'

export interface SandboxNetwork {
  readonly allowOut?: readonly string[]
  readonly denyOut?: readonly string[]
  readonly rules?: unknown
  readonly allowPublicTraffic?: boolean
  readonly maskRequestHost?: string
}

/** One sandbox as API and ingress see it, until nothing of it is left. */
export interface Sandbox {
  readonly id: string
  readonly templateId: string
  readonly templateName: string
  readonly buildId: string
  readonly metadata: Readonly<Record<string, string>>
  readonly cpuCount: number
  readonly memoryMb: number
  readonly startedAtMs: number
  /** Breaks ties between sandboxes started in one millisecond. */
  readonly sequence: number
  readonly envdToken: string
  readonly trafficToken: string
  readonly running: RunningSandbox
  readonly exchanges: Exchanges
  endAtMs: number
  network: SandboxNetwork
  /** Its end has begun, so nobody may use it any more; it stays known until its processes and folder are gone. */
  isEnding: boolean
}

/** The open requests and sockets of one sandbox, each with what cuts it. */
export interface Exchanges {
  /** Registers; the returned function takes it off again. Cuts at once when the sandbox is already cut. */
  add(cut: () => void): () => void
  cutAll(): void
}

export function openExchanges(): Exchanges {
  const open = new Set<() => void>()
  let isCut = false
  return {
    add(cut) {
      if (isCut) cut()
      else open.add(cut)
      return () => open.delete(cut)
    },
    cutAll() {
      isCut = true
      for (const cut of open) cut()
      open.clear()
    },
  }
}

/** What the API calls its state; `ending` is ours, since E2B calls such a sandbox gone. */
export function stateOf({ isEnding }: Pick<Sandbox, 'isEnding'>): 'running' | 'ending' {
  return isEnding ? 'ending' : 'running'
}

/** Guest ports need the traffic token only when public traffic was turned off. */
export function needsTrafficToken(sandbox: Pick<Sandbox, 'network'>): boolean {
  return sandbox.network.allowPublicTraffic === false
}
