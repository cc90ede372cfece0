import { setTimeout as wait } from 'node:timers/promises'
import { missingOnDesktop, probeScript, type Screen } from './desktop-probe.ts'
import { endpointHeaders, type GuestEndpoint } from './endpoint.ts'
import { LeaseError } from './lease-error.ts'

const requestTimeoutMs = 15_000
const pollMs = 250
const stillFramePauseMs = 400
/** Looks between two questions whether the sandbox itself still lives. */
const looksPerLifeCheck = 8

export interface DesktopWait {
  /** How long the desktop may take, in milliseconds from now. */
  readonly deadlineMs: number
  /** Aborted when nobody wants the desktop any more; its reason is thrown. */
  readonly signal: AbortSignal
  /** Whether the sandbox still lives; without it a dead one would look like one that is not up yet. */
  readonly isAlive: () => Promise<boolean>
  readonly screen: Screen
}

/**
 * Waits until the guest's desktop is really there: the guest server answers, GNOME Shell manages a screen of the right
 * size, the icons' window exists and two frames are equal. Throws `LeaseError` (`guest_not_ready`, `guest_lost`).
 */
export async function waitForDesktop(endpoint: GuestEndpoint, { deadlineMs, signal, isAlive, screen }: DesktopWait): Promise<void> {
  const deadline = performance.now() + deadlineMs
  let missing = 'nothing was looked at'
  for (let look = 1; performance.now() < deadline; look++) {
    signal.throwIfAborted()
    const found = await lookAtDesktop({ endpoint, signal, screen })
    if (found === undefined) return
    missing = found
    if (look % looksPerLifeCheck === 0 && !(await isAlive())) throw new LeaseError('guest_lost', `The sandbox died before its desktop was ready (${missing}).`)
    await pause(pollMs, signal)
  }
  throw new LeaseError('guest_not_ready', `The desktop was not ready after ${Math.round(deadlineMs / 1_000)} s: ${missing}.`)
}

interface Look {
  readonly endpoint: GuestEndpoint
  readonly signal: AbortSignal
  readonly screen: Screen
}

async function lookAtDesktop(look: Look): Promise<string | undefined> {
  try {
    await ask(look, '/platform')
    const execute = { command: ['python3', '-c', probeScript], shell: false }
    const answer = await ask(look, '/execute', JSON.stringify(execute))
    const missing = missingOnDesktop(JSON.parse(answer.toString('utf8')), look.screen)
    if (missing !== undefined) return missing
    const first = await ask(look, '/screenshot')
    await pause(stillFramePauseMs, look.signal)
    return first.equals(await ask(look, '/screenshot')) ? undefined : 'the picture on the screen still changes'
  } catch (error) {
    look.signal.throwIfAborted()
    return `the guest server does not answer as it should (${describe(error)})`
  }
}

/** Ends early with the signal's own reason; the timer would throw an `AbortError` that tells nothing. */
async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(milliseconds, undefined, { signal })
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

async function ask({ endpoint, signal }: Look, path: string, jsonBody?: string): Promise<Buffer> {
  const headers = endpointHeaders(endpoint)
  const response = await fetch(`${endpoint.baseUrl}${path}`, {
    ...(jsonBody === undefined ? { headers } : { method: 'POST', body: jsonBody, headers: { ...headers, 'content-type': 'application/json' } }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
  })
  const body = Buffer.from(await response.arrayBuffer())
  if (!response.ok) throw new Error(`${path} answers ${response.status}: ${body.toString('utf8').slice(0, 200)}`)
  return body
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message
}
