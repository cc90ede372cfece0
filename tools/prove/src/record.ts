import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { invalidReasonSchema, parseDocument, taskKeySchema, timestampSchema } from '@osworld-e2b/contracts'
import { writeJsonAtomic } from '@osworld-e2b/inventory'
import { z } from 'zod'
import { boundaries, victims } from './kill-table.ts'

const taskFigureSchema = z.strictObject({
  task: taskKeySchema,
  /** Null when the last attempt at it has no score. */
  reward: z.number().min(0).max(1).nullable(),
  /** Why earlier attempts, or the last one, had no score. */
  invalid: z.array(invalidReasonSchema),
  /** Of all attempts at it together. */
  seconds: z.number().min(0),
  steps: z.int().min(0),
})
export type TaskFigure = z.infer<typeof taskFigureSchema>

const runFigureSchema = z.strictObject({
  name: z.string().min(1),
  /** What every task had to score. */
  expected_reward: z.union([z.literal(0), z.literal(1)]),
  num_envs: z.int().min(1),
  exit_code: z.int().nullable(),
  /** From the start of the program to its end. */
  seconds: z.number().min(0),
  /** Weaknesses that the run itself states of its number. */
  labels: z.array(z.enum(['simulated', 'unverified', 'unconfined', 'additions'])),
  /** Null when the run left no readable result. */
  planned_tasks: z.int().min(0).nullable(),
  tasks: z.array(taskFigureSchema),
})
export type RunFigure = z.infer<typeof runFigureSchema>

const killFigureSchema = z.strictObject({
  victim: z.enum(victims),
  boundary: z.enum(boundaries),
  /** How often it was made again because the boundary was over before the victim died. */
  misses: z.int().min(0),
  seconds: z.number().min(0),
  /** Attempts that the ledger showed as planned and not ended when the victim was dead. */
  open_attempts: z.int().min(0),
  planned_attempts: z.int().min(0),
  invalid_by_reason: z.partialRecord(invalidReasonSchema, z.int().min(1)),
  score_declared: z.number().min(0).max(1).nullable(),
  /** Of the killed run, and of its resume when it needed one. */
  exit_codes: z.array(z.int().nullable()),
  verify: z.enum(['passed', 'failed', 'absent']),
  /** Processes, mounts, sandboxes and temporary folders. */
  left_over: z.int().min(0),
  failures: z.array(z.string().min(1)),
})
export type KillFigure = z.infer<typeof killFigureSchema>

const killMatrixSchema = z.strictObject({
  cells: z.array(killFigureSchema),
  /** Pairs that are no cells. */
  absent: z.array(z.strictObject({ victim: z.enum(victims), boundary: z.enum(boundaries), why: z.string().min(1) })),
})

/** `validation/proofs/<date>-<name>.json`. It is published, so it holds no path and no name of the machine. */
export const proofRecordSchema = z
  .strictObject({
    schema_version: z.literal(1),
    proof: z.string().regex(/^[a-z0-9-]+$/, 'must hold lower-case letters, digits and dashes only'),
    claim: z.string().min(1),
    started_at: timestampSchema,
    ended_at: timestampSchema,
    commit: z.strictObject({
      sha: z.string().regex(/^[0-9a-f]{40}$/, 'must be 40 lower-case hexadecimal digits'),
      /** Whether files differed from the commit at the start or the end; proofs themselves do not count. */
      dirty: z.boolean(),
    }),
    /** Whether the program that ran was this checkout's own. */
    own_program: z.boolean(),
    machine: z.strictObject({
      cores: z.int().min(1),
      memory_gib: z.number().positive(),
      os: z.string(),
      kernel: z.string(),
      node: z.string(),
      python: z.string(),
    }),
    figures: z.strictObject({ runs: z.array(runFigureSchema).min(1), kill_matrix: killMatrixSchema.optional() }),
    failures: z.array(z.string().min(1)),
    passed: z.boolean(),
  })
  .refine(({ passed, failures }) => passed === (failures.length === 0), 'passed must say whether there are no failures')
export type ProofRecord = z.infer<typeof proofRecordSchema>

/** Writes the record and gives its file name; a second record of one proof on one day replaces the first. */
export async function writeRecord(folder: string, record: ProofRecord): Promise<string> {
  const name = `${record.started_at.slice(0, 10)}-${record.proof}.json`
  const checked = parseDocument(proofRecordSchema, name, record)
  await mkdir(folder, { recursive: true })
  await writeJsonAtomic(join(folder, name), checked)
  return name
}
