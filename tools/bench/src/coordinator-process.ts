import { setMaxListeners } from 'node:events'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { Contract } from '@osworld-e2b/contracts'
import { writeJsonAtomic } from '@osworld-e2b/inventory'
import { openLedger, runCampaign, systemClock } from '@osworld-e2b/scheduler'
import { z } from 'zod'
import { runShortAttempt } from './short-attempt.ts'

export const queuedAttempts = 1_000
export const runningAttempts = 100

export const coordinatorReportSchema = z.strictObject({
  seconds: z.number().positive(),
  cpu_seconds: z.number().min(0),
  rss_before_mb: z.number().positive(),
  peak_rss_mb: z.number().positive(),
  attempts: z.int().min(0),
  steps: z.int().min(0),
})
export type CoordinatorReport = z.infer<typeof coordinatorReportSchema>

/** A whole campaign of short attempts in the folder, by the engine with its real ledger and aggregate; throws unless every task got its score. */
export async function runCoordinator(folder: string): Promise<CoordinatorReport> {
  const stop = new AbortController()
  // Every running attempt listens to it.
  setMaxListeners(0, stop.signal)
  const ledger = await openLedger(join(folder, 'attempts.jsonl'), () => systemClock.now())
  const before = { cpu: process.cpuUsage(), ms: performance.now(), rss: process.memoryUsage.rss() }
  let attempts = 0
  let steps = 0
  const { aggregate } = await runCampaign(
    { runId: 'bench', contract: contractOf(queuedAttempts + runningAttempts), ledger, labels: { unconfined: false, unverified: false, simulated: true } },
    {
      clock: systemClock,
      runAttempt: runShortAttempt,
      closeLeftover: () => Promise.resolve({}),
      listSandboxes: () => Promise.resolve([]),
      killSandbox: () => Promise.resolve(),
      writeAggregate: (result) => writeJsonAtomic(join(folder, 'aggregate.json'), result),
      onEvent: ({ type }) => {
        if (type === 'attempt_ended') attempts += 1
        if (type === 'attempt_step') steps += 1
      },
      owner: { pid: process.pid, host: 'bench' },
    },
    stop.signal,
  )
  await ledger.close()
  if (!aggregate.complete) throw new Error(`The campaign left ${aggregate.remaining_tasks} tasks without a score; its figures are none.`)
  const { user, system } = process.cpuUsage(before.cpu)
  return {
    seconds: (performance.now() - before.ms) / 1_000,
    cpu_seconds: (user + system) / 1_000_000,
    rss_before_mb: before.rss / 1_000_000,
    // Linux gives it in KiB (getrusage(2)).
    peak_rss_mb: (process.resourceUsage().maxRSS * 1_024) / 1_000_000,
    attempts,
    steps,
  }
}

function contractOf(tasks: number): Contract {
  const nothing = '0'.repeat(64)
  return {
    schema_version: 2,
    scoring: {
      profile: 'bench',
      suite: 'bench',
      tasks: Array.from({ length: tasks }, (_, index) => ({ domain: 'bench', id: `${index + 1}`.padStart(36, '0'), task_sha256: nothing })),
      trials: 1,
      template: 'bench:00000000-0000-0000-0000-000000000000',
      agent: { kind: 'none' },
      max_steps: 100,
      timing: 'settled',
      screen: { width: 1920, height: 1080 },
      enable_proxy: false,
      adjustments_sha256: nothing,
    },
    operation: {
      route: { kind: 'local', final: false },
      num_envs: runningAttempts,
      max_attempts_per_trial: 1,
      attempt_timeout_seconds: 600,
      ready_deadline_seconds: 60,
      execution_authorized: false,
    },
  }
}
