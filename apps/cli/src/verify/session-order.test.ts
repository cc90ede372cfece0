import type { LedgerEvent } from '@osworld-e2b/contracts'
import { expect, test } from 'vitest'
import { SessionOrder } from './session-order.ts'

const timestamp = '2026-01-01T00:00:00.000Z'
const started: LedgerEvent = { event: 'RUN_STARTED', timestamp, pid: 1, host: 'here' }
const ended: LedgerEvent = { event: 'RUN_ENDED', timestamp, reason: 'complete' }
const cut: LedgerEvent = { event: 'TAIL_CUT', timestamp, bytes: 1 }
const planned: LedgerEvent = { event: 'PLANNED', timestamp, domain: 'os', task_id: 'a', trial: 1, attempt: 1, attempt_dir: 'attempts/os/a/1.1' }
const paused: LedgerEvent = { event: 'RUN_PAUSED', timestamp, reason: 'disk_full', message: 'full' }
const continued: LedgerEvent = { event: 'RUN_CONTINUED', timestamp, reason: 'disk_full' }

function problemsOf(events: readonly LedgerEvent[]): readonly string[] {
  const order = new SessionOrder()
  return events.flatMap((event) => order.take(event) ?? [])
}

test.each<[string, readonly LedgerEvent[]]>([
  ['a run that ends', [started, planned, ended]],
  ['a resume after an end', [started, ended, started, planned, ended]],
  ['a resume after a crash', [started, planned, started, ended]],
  ['a resume after a crash in mid-write', [started, planned, cut, started, ended]],
  ['a crash before the first line was whole', [cut, started, ended]],
  ['a pause that is over', [started, paused, continued, paused, ended]],
])('%s is in order', (_title, events) => expect(problemsOf(events)).toEqual([]))

test.each<[string, readonly LedgerEvent[], string]>([
  ['an attempt before any start', [planned, started], 'PLANNED stands before any RUN_STARTED'],
  ['an attempt after the end', [started, ended, planned], 'PLANNED stands after RUN_ENDED without a RUN_STARTED between them'],
  ['an attempt after a cut tail', [started, cut, planned], 'PLANNED stands after TAIL_CUT without a RUN_STARTED between them'],
  ['a second end', [started, ended, ended], 'RUN_ENDED stands after RUN_ENDED without a RUN_STARTED between them'],
  ['the end of a pause that there was not', [started, continued], 'RUN_CONTINUED names disk_full, for which the run was not paused'],
  ['the end of a pause of an earlier start', [started, paused, started, continued], 'RUN_CONTINUED names disk_full, for which the run was not paused'],
])('%s is not', (_title, events, problem) => expect(problemsOf(events)).toEqual([problem]))

test('whether the run has ended is known from the last event', () => {
  const order = new SessionOrder()
  for (const [event, isEnded] of [[started, false], [ended, true], [cut, false]] as const) {
    order.take(event)
    expect(order.isEnded).toBe(isEnded)
  }
})
