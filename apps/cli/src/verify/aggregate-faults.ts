import { aggregate, type RunFold } from '@osworld-e2b/aggregation'
import type { Aggregate, Contract, RunDocument, VerifyFault } from '@osworld-e2b/contracts'
import { prettyJson } from '@osworld-e2b/inventory'

export interface AggregateFacts {
  readonly document: RunDocument | undefined
  readonly contract: Contract | undefined
  readonly fold: RunFold
  /** As `aggregate.json` says; undefined when it says nothing that can be read. */
  readonly found: Aggregate | undefined
  readonly isThere: boolean
}

const path = 'aggregate.json'
const next = 'start the run again with the same --run-id, which folds the ledger anew, or get an unchanged copy of the folder.'

/** Whether the aggregate is the fold of the ledger, but for the time it was written at. */
export function aggregateFaults({ document, contract, fold, found, isThere }: AggregateFacts): readonly VerifyFault[] {
  if (document === undefined || contract === undefined) return []
  if (!isThere) return fold.session === 0 ? [] : [{ kind: 'aggregate', path, message: `${path} is missing though the run was started: ${next}` }]
  if (found === undefined) return []
  const expected = expectedAggregate(document, contract, { fold, updatedAt: found.updated_at })
  const differing = differences(found, expected)
  if (differing.length === 0) return []
  return [{ kind: 'aggregate', path, message: `${path} is not what the ledger amounts to: ${differing.join('; ')}. Either of them was edited, or its writer was ended in between: ${next}` }]
}

function expectedAggregate({ run_id: runId, unconfined, unverified }: RunDocument, { scoring }: Contract, { fold, updatedAt }: { readonly fold: RunFold; readonly updatedAt: string }): Aggregate {
  const tasks = scoring.tasks.map(({ domain, id }) => ({ domain, id }))
  return aggregate({ runId, tasks, trials: scoring.trials, state: fold.state, totals: fold.totals, updatedAt, labels: { unconfined, unverified } })
}

function differences(found: Aggregate, expected: Aggregate): readonly string[] {
  const fields = [...new Set([...Object.keys(expected), ...Object.keys(found)])].sort() as (keyof Aggregate)[]
  return fields.filter((field) => textOf(found[field]) !== textOf(expected[field])).map((field) => difference(field, found[field], expected[field]))
}

/** Of a table only that it differs. */
function difference(field: string, found: unknown, expected: unknown): string {
  const isTable = [found, expected].some((value) => typeof value === 'object' && value !== null)
  return isTable ? `${field} differs` : `${field} is ${textOf(found)} and should be ${textOf(expected)}`
}

function textOf(value: unknown): string {
  return value === undefined ? 'absent' : prettyJson(value).trimEnd()
}
