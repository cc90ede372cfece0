import { setTimeout as wait } from 'node:timers/promises'
import type { ControlPlane } from './control-plane.ts'
import type { SandboxTimings } from './timings.ts'

export interface KillOptions {
  readonly plane: ControlPlane
  readonly id: string
  readonly timings: SandboxTimings
  readonly onTrouble: (message: string) => void
}

/** Kills a sandbox and believes it only when the API no longer knows it, or is gone with it; tries until the deadline. */
export async function killVerified({ plane, id, timings, onTrouble }: KillOptions): Promise<'success' | 'failed'> {
  const deadline = performance.now() + timings.killDeadlineMs
  do {
    try {
      await plane.kill(id)
      if ((await plane.state(id)) === 'gone') return 'success'
    } catch (error) {
      const { sentence, serverIsGone } = plane.explain(error)
      if (serverIsGone) return 'success'
      onTrouble(`Sandbox ${id} could not be killed: ${sentence}.`)
    }
    await wait(timings.pollMs)
  } while (performance.now() < deadline)
  return 'failed'
}
