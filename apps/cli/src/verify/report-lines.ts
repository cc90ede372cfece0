import type { VerifyFault, VerifyReport } from '@osworld-e2b/contracts'
import { bytesText } from '../clean/bytes-text.ts'

export function faultLine({ kind, message }: VerifyFault): string {
  return `${kind.padEnd(9)} ${message}`
}

/** What was looked at, and how many faults were found. */
export function totalLine({ run_id: runId, checked, faults }: VerifyReport): string {
  const { ledger_events: events, attempts, artifacts, bytes } = checked
  const looked = `${counted(events, 'ledger event')}, ${counted(attempts, 'attempt')}, ${counted(artifacts, 'file')} (${bytesText(bytes)})`
  const verdict = faults.length === 0 ? 'no fault' : counted(faults.length, 'fault')
  return `${runId}: ${verdict} in ${looked}`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
