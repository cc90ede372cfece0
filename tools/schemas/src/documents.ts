import {
  aggregateSchema,
  attemptConfigSchema,
  contractFileSchema,
  contractSchema,
  inventorySchema,
  ledgerEventSchema,
  modelCallSchema,
  osworldTaskSchema,
  priceTableSchema,
  profilesSchema,
  runDocumentSchema,
  runStatusSchema,
  scriptSchema,
  suiteInventorySchema,
  suiteSchema,
  verifyReportSchema,
} from '@osworld-e2b/contracts'
import type { z } from 'zod'

export interface DocumentKind {
  /** Begins the schema's file name. */
  readonly name: string
  readonly title: string
  readonly schema: z.ZodType
}

/** The documents that people write or read; messages between processes are no business of an editor. */
export const documents: readonly DocumentKind[] = [
  { name: 'aggregate', title: "A run's aggregate.json", schema: aggregateSchema },
  { name: 'attempt', title: "An attempt's attempt.json", schema: attemptConfigSchema },
  { name: 'contract', title: 'A contract, version 2, as a user writes it', schema: contractFileSchema },
  { name: 'inventory', title: 'The inventory of a suite of a pinned OSWorld source', schema: inventorySchema },
  { name: 'ledger-event', title: "One line of a run's attempts.jsonl", schema: ledgerEventSchema },
  { name: 'model-call', title: "One line of an attempt's model-calls.jsonl", schema: modelCallSchema },
  { name: 'price-table', title: 'Prices of models, for `osworld run --prices`', schema: priceTableSchema },
  { name: 'profiles', title: 'The pinned OSWorld sources by name', schema: profilesSchema },
  { name: 'run', title: "A run's run.json", schema: runDocumentSchema },
  { name: 'run-contract', title: "A run's contract.json", schema: contractSchema },
  { name: 'run-status', title: "A run's status.json", schema: runStatusSchema },
  { name: 'script', title: "The scripted agent's actions in one task", schema: scriptSchema },
  { name: 'suite', title: 'A suite of tasks', schema: suiteSchema },
  { name: 'suite-inventory', title: 'The inventory of a suite', schema: suiteInventorySchema },
  { name: 'task', title: 'The part of an OSWorld task that this project reads', schema: osworldTaskSchema },
  { name: 'verify-report', title: 'What `osworld verify --json` prints', schema: verifyReportSchema },
]
