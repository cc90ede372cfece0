import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Cause, maxMessageLength } from '@osworld-e2b/contracts'
import { writeJsonAtomic } from '@osworld-e2b/inventory'
import { runAttempt } from './attempt.ts'
import type { AttemptPlan, AttemptServices } from './attempt-plan.ts'
import { proveProcessEnd } from './attempt-end.ts'
import type { AttemptReport } from './attempt-report.ts'
import type { AttemptIdentity, CampaignServices } from './campaign-types.ts'
import { catalogAttempt } from './catalog-attempt.ts'
import { leftoverUsage } from './leftover-usage.ts'
import type { Room } from './room.ts'
import { asError, SchedulerError } from './scheduler-error.ts'
import { copyVerifiedTask } from './task-copy.ts'

export interface AttemptProcesses extends AttemptServices {
  readonly runFolder: string
  readonly room: Room
  /** Everything one attempt needs; its folder exists already. */
  planAttempt(identity: AttemptIdentity, folder: string): AttemptPlan
  /** Why the code that scores is not what the run was made with any more; asked before each attempt. */
  scorerDrift?(): Promise<string | undefined>
}

/** Attempts as processes of this machine, with their evidence in the run folder. */
export function attemptProcesses(options: AttemptProcesses): Pick<CampaignServices, 'runAttempt' | 'closeLeftover'> {
  const { runFolder, room } = options
  const catalog = async ({ attemptDir }: AttemptIdentity) => {
    const catalogSha256 = await room.keep(() => catalogAttempt(join(runFolder, attemptDir)))
    return catalogSha256 === undefined ? {} : { catalogSha256 }
  }
  return {
    runAttempt: async (identity, hooks) => {
      const plan = await room.keep(() => prepare(identity, options))
      const drift = (await room.keep(() => copyVerifiedTask(plan.task, plan.config.task_file))) ?? (await scorerDrift(options))
      const report = drift === undefined ? await runAttempt(plan, options, hooks) : drifted(drift)
      try {
        return { ...report, ...(await catalog(identity)) }
      } catch (error) {
        return uncatalogued(report, error)
      }
    },
    closeLeftover: async (identity, process) => {
      const alive = await proveProcessEnd(process)
      const used = await leftoverUsage(join(runFolder, identity.attemptDir))
      try {
        return { ...(alive === undefined ? {} : { problem: alive }), ...used, ...(await catalog(identity)) }
      } catch (error) {
        if (error instanceof SchedulerError) throw error
        return { problem: alive ?? uncataloguedText(error), ...used }
      }
    },
  }
}

/** The attempt's folder, with all that the attempt is told in it. */
async function prepare(identity: AttemptIdentity, options: AttemptProcesses): Promise<AttemptPlan> {
  const folder = join(options.runFolder, identity.attemptDir)
  // What lies there is of an attempt that the ledger knows nothing of, such as one whose PLANNED line a crash cut off.
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const plan = options.planAttempt(identity, folder)
  await writeJsonAtomic(join(folder, 'attempt.json'), plan.config)
  return plan
}

async function scorerDrift(options: AttemptProcesses): Promise<Cause | undefined> {
  const message = await options.scorerDrift?.()
  return message === undefined ? undefined : { reason: 'identity_drift', message }
}

function drifted(drift: Cause): AttemptReport {
  return { outcome: { kind: 'invalid', ...drift }, cleanup: 'none', seconds: 0, steps: 0 }
}

/** What no digest stands for is no evidence, and a reward without evidence is none. */
function uncatalogued(report: AttemptReport, error: unknown): AttemptReport {
  const message = uncataloguedText(error)
  const { outcome } = report
  if (outcome.kind === 'valid') return { ...report, outcome: { kind: 'invalid', reason: 'runner_exit', message } }
  return { ...report, outcome: { ...outcome, later: [...(outcome.later ?? []), { reason: 'runner_exit', message }] } }
}

function uncataloguedText(error: unknown): string {
  return `The attempt's files could not be catalogued: ${asError(error).message}`.slice(0, maxMessageLength)
}
