import { openSync, writeSync } from 'node:fs'
import type { RelayEventLine } from '@osworld-e2b/contracts'
import type { RelayEvent } from '@osworld-e2b/relay'

export type RecordEvent = (event: Omit<RelayEventLine, 'at'>) => void

/**
 * Opens `relay-events.jsonl` for appending. Lines are written at once and whole, so that a kill of this process loses none.
 */
export function openEventsFile(path: string, now: () => Date): RecordEvent {
  const file = openSync(path, 'a', 0o644)
  return (event) => {
    writeSync(file, `${JSON.stringify({ at: now().toISOString(), ...event })}\n`)
  }
}

const eventNames = {
  request_failed: 'REQUEST_FAILED',
  request_refused: 'REQUEST_REFUSED',
  request_aborted: 'REQUEST_ABORTED',
  websocket_opened: 'WEBSOCKET_OPENED',
  websocket_closed: 'WEBSOCKET_CLOSED',
  websocket_failed: 'WEBSOCKET_FAILED',
} as const satisfies Record<RelayEvent['event'], RelayEventLine['event']>

/** An event of the relay as a line of the file. */
export function trafficLine({ event, ...rest }: RelayEvent): Omit<RelayEventLine, 'at'> {
  return { event: eventNames[event], ...rest }
}

/** Whether an event makes it worth asking if the sandbox still lives. */
export function isSuspicious({ event }: RelayEvent): boolean {
  return event === 'request_failed' || event === 'request_refused' || event === 'websocket_failed'
}
