import { createRunFold } from '@osworld-e2b/aggregation'
import type { LedgerEvent } from '@osworld-e2b/contracts'
import type { Ledger } from './ledger.ts'

/** A ledger that nothing survives: for simulations, and for harnesses that keep their own record. */
export function memoryLedger(onEvent: (event: LedgerEvent) => void = () => undefined): Ledger {
  const fold = createRunFold()
  return {
    state: fold.state,
    session: () => fold.session,
    totals: () => fold.totals,
    append: (event) => {
      fold.apply(event)
      onEvent(event)
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
  }
}
