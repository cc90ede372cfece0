import type { Connection } from '@osworld-e2b/contracts'
import { secret } from '@osworld-e2b/redaction'
import type { ControlPlane, CreatedSandbox } from './control-plane.ts'
import { guestEndpoint, type GuestEndpoint } from './endpoint.ts'
import { keepAlive, serverGoneSentence } from './heartbeat.ts'
import { killVerified } from './kill.ts'
import { LeaseError } from './lease-error.ts'
import type { SandboxTimings } from './timings.ts'

/** One living sandbox, kept alive by its heartbeat until it is killed or lost. */
export interface SandboxLease {
  readonly id: string
  /** Aborted once, with a `LeaseError` of code `guest_lost` as its reason, when the sandbox is gone without our doing. */
  readonly lost: AbortSignal
  endpoint(port: number): GuestEndpoint
  /** Asks the API whether the sandbox still runs; declares the loss if not. An unanswered question counts as alive. */
  verify(): Promise<boolean>
  /** Stops the heartbeat, kills, and asks until the API says that the sandbox is gone; `failed` when it never did. */
  kill(): Promise<'success' | 'failed'>
}

export interface LeaseOptions {
  readonly connection: Connection
  readonly plane: ControlPlane
  readonly sandbox: CreatedSandbox & { readonly trafficToken: string }
  readonly timeoutSeconds: number
  readonly timings: SandboxTimings
  /** Told of every call about this sandbox that failed without being the end of it. */
  readonly onTrouble?: (message: string) => void
}

/** Takes charge of a created sandbox: extends its time to live at every third of it. */
export function holdLease(options: LeaseOptions): SandboxLease {
  const { connection, plane, sandbox, timeoutSeconds, timings } = options
  const onTrouble = options.onTrouble ?? (() => undefined)
  const lost = new AbortController()
  const released = new AbortController()
  const trafficToken = secret(sandbox.trafficToken, 'traffic token')
  const declareLost = (why: string): void => {
    if (released.signal.aborted || lost.signal.aborted) return
    lost.abort(new LeaseError('guest_lost', `Sandbox ${sandbox.id} is gone: ${why}.`))
  }
  const lookUp = async (): Promise<boolean> => {
    try {
      const state = await plane.state(sandbox.id)
      if (state !== 'running') declareLost(`the API says that it is ${state}`)
    } catch (error) {
      const { sentence, serverIsGone } = plane.explain(error)
      // Any other trouble of the control plane is no news about the sandbox.
      if (serverIsGone) declareLost(serverGoneSentence)
      else onTrouble(`The API could not be asked about sandbox ${sandbox.id}: ${sentence}.`)
    }
    return !lost.signal.aborted
  }
  let looking: Promise<boolean> | undefined
  let killing: Promise<'success' | 'failed'> | undefined
  const stopped = AbortSignal.any([lost.signal, released.signal])
  void keepAlive({ plane, id: sandbox.id, timeoutSeconds, stopped, declareLost, onTrouble })
  return {
    id: sandbox.id,
    lost: lost.signal,
    endpoint: (port) => guestEndpoint(connection, { sandbox, trafficToken, port }),
    verify: () => (looking ??= lookUp().finally(() => (looking = undefined))),
    kill() {
      released.abort()
      return (killing ??= killVerified({ plane, id: sandbox.id, timings, onTrouble }))
    },
  }
}
