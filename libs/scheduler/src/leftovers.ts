import type { AttemptRecord, RunState, TrialKey } from '@osworld-e2b/aggregation'
import type { Orphans, Outcome } from '@osworld-e2b/contracts'
import type { AttemptReport } from './attempt-report.ts'
import type { AttemptIdentity, CampaignServices } from './campaign-types.ts'

export interface Leftover {
  readonly identity: AttemptIdentity
  readonly report: AttemptReport
}

/**
 * Closes what an earlier owner of the run left open: its attempts are interrupted once their processes have ended. `orphans` is what the
 * look for the run's sandboxes found, undefined when they could not be listed.
 */
export async function closeLeftovers(state: RunState, services: Pick<CampaignServices, 'closeLeftover'>, orphans: Orphans | undefined): Promise<readonly Leftover[]> {
  const open = [...state.values()].flatMap(({ key, attempts }) => {
    const last = attempts.at(-1)
    return last === undefined || last.state.phase === 'terminal' ? [] : [{ key, last }]
  })
  return Promise.all(open.map(({ key, last }) => closeLeftover(key, last, { services, orphans })))
}

interface Context {
  readonly services: Pick<CampaignServices, 'closeLeftover'>
  readonly orphans: Orphans | undefined
}

async function closeLeftover(key: TrialKey, { attempt, attemptDir, state }: AttemptRecord, { services, orphans }: Context): Promise<Leftover> {
  const identity = { ...key, attempt, attemptDir }
  const process = state.phase === 'started' ? { pid: state.pid, start: state.pidStart } : undefined
  const { problem, ...known } = await services.closeLeftover(identity, process)
  const trouble = problem ?? sandboxTrouble(orphans)
  const outcome: Outcome = {
    kind: 'invalid',
    reason: 'interrupted',
    message: 'The coordinator ended before this attempt did.',
    ...(trouble === undefined ? {} : { later: [{ reason: 'cleanup_failed' as const, message: trouble }] }),
  }
  const cleanup = trouble === undefined ? (state.phase === 'planned' ? 'none' : 'success') : 'failed'
  return { identity, report: { outcome, cleanup, seconds: 0, steps: 0, ...known } }
}

function sandboxTrouble(orphans: Orphans | undefined): string | undefined {
  if (orphans === undefined) return 'The sandboxes of the run could not be listed.'
  return orphans.remaining === 0 ? undefined : `${orphans.remaining} sandboxes of the run are still listed.`
}
