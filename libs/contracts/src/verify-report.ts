import { z } from 'zod'

/** What `osworld verify --json` prints: every fault of a run folder. */
export const verifyReportSchema = z.strictObject({
  schema_version: z.literal(1),
  run_id: z.string(),
  /** How many of each were looked at. */
  checked: z.strictObject({ ledger_events: z.int().min(0), attempts: z.int().min(0), artifacts: z.int().min(0), bytes: z.int().min(0) }),
  faults: z.array(
    z.strictObject({
      kind: z.enum(['document', 'identity', 'ledger', 'catalog', 'artifact', 'aggregate', 'secret', 'leftover']),
      /** Relative to the run folder. */
      path: z.string(),
      /** One sentence: what, which, and what to do. */
      message: z.string().min(1),
    }),
  ),
})
export type VerifyReport = z.infer<typeof verifyReportSchema>
export type VerifyFault = VerifyReport['faults'][number]
