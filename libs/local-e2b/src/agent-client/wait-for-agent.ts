import { setTimeout as delay } from 'node:timers/promises'
import { requestAgent } from './agent-request.ts'

const retryPauseMs = 20

/**
 * Resolves when the agent answers `GET /health`. The kernel queues the request until the agent accepts, so this seldom asks twice;
 * the signal ends the wait with its reason.
 */
export async function waitForAgent(agentSocket: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    if (await answers(agentSocket, signal)) return
    await delay(retryPauseMs, undefined, { signal }).catch(() => undefined)
  }
}

async function answers(agentSocket: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await requestAgent({ agentSocket, method: 'GET', path: '/health', signal })
    response.resume()
    return response.statusCode === 204
  } catch {
    // Not reachable yet; the loop above asks again until its signal says stop.
    return false
  }
}
