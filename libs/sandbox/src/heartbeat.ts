import { setTimeout as wait } from 'node:timers/promises'
import type { ControlPlane } from './control-plane.ts'

export interface Heartbeat {
  readonly plane: ControlPlane
  readonly id: string
  readonly timeoutSeconds: number
  readonly stopped: AbortSignal
  readonly declareLost: (why: string) => void
  readonly onTrouble: (message: string) => void
}

type Beat = 'alive' | 'gone' | 'server_gone' | 'unknown'

export const serverGoneSentence = 'the local server that ran it does not run any more'

/** Extends a sandbox's time to live at every third of it, sooner after a failure; ends when stopped or lost. */
export async function keepAlive(heartbeat: Heartbeat): Promise<void> {
  const { timeoutSeconds, stopped, declareLost } = heartbeat
  const timeoutMs = timeoutSeconds * 1_000
  let aliveAt = performance.now()
  let pauseMs = timeoutMs / 3
  while (await pause(pauseMs, stopped)) {
    const beat = await extend(heartbeat)
    if (beat === 'alive') aliveAt = performance.now()
    pauseMs = beat === 'alive' ? timeoutMs / 3 : timeoutMs / 12
    if (beat === 'server_gone') declareLost(serverGoneSentence)
    else if (beat === 'gone') declareLost('its heartbeat was refused, and the API says that it does not run')
    else if (performance.now() - aliveAt > timeoutMs) declareLost(`no heartbeat reached the API for its whole time to live (${timeoutSeconds} s)`)
  }
}

/** One heartbeat. Only the look-up decides: a failed extension alone, such as at the plan's longest time, is no death. */
async function extend(heartbeat: Heartbeat): Promise<Beat> {
  const { plane, id, timeoutSeconds, onTrouble } = heartbeat
  try {
    if (await plane.extend(id, timeoutSeconds)) return 'alive'
  } catch (error) {
    const { sentence, serverIsGone } = plane.explain(error)
    if (serverIsGone) return 'server_gone'
    onTrouble(`Sandbox ${id} could not be extended: ${sentence}.`)
  }
  try {
    return (await plane.state(id)) === 'running' ? 'alive' : 'gone'
  } catch (error) {
    const { sentence, serverIsGone } = plane.explain(error)
    if (serverIsGone) return 'server_gone'
    onTrouble(`The API could not be asked about sandbox ${id}: ${sentence}.`)
    return 'unknown'
  }
}

/** Waits; false when it was stopped. */
async function pause(milliseconds: number, stopped: AbortSignal): Promise<boolean> {
  try {
    await wait(milliseconds, undefined, { signal: stopped, ref: false })
    return true
  } catch (error) {
    if (stopped.aborted) return false
    throw error
  }
}
