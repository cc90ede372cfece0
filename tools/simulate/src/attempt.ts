import type { Outcome } from '@osworld-e2b/contracts'
import { type AttemptHooks, type AttemptIdentity, attemptName, type AttemptReport } from '@osworld-e2b/scheduler'
import type { Assumptions } from './assumptions.ts'
import type { Bursts } from './bursts.ts'
import { type Course, courseOf } from './course.ts'
import { fateOf } from './fate.ts'
import type { Refusal, SimulatedProvider } from './provider.ts'
import type { VirtualClock } from './virtual-clock.ts'

export interface World {
  readonly seed: string
  readonly assumptions: Assumptions
  readonly clock: VirtualClock
  readonly bursts: Bursts
  readonly provider: SimulatedProvider
}

/** What an attempt cost, and what it was good for. */
export interface AttemptAccount {
  readonly identity: AttemptIdentity
  readonly paidMs: number
  readonly busyMs: number
  readonly isValid: boolean
}

export interface SimulatedAttempt {
  readonly report: AttemptReport
  readonly account: AttemptAccount
}

const sentences: Readonly<Record<Refusal, string>> = {
  burst: 'The create was answered with 502.',
  rate: 'The create was answered with 429: too many in one second.',
  full: 'The create was answered with 429: too many sandboxes.',
  chance: 'The create failed.',
}

/** Lives through what chance has decided for the attempt, in the time of the clock. */
export async function runSimulatedAttempt(identity: AttemptIdentity, hooks: AttemptHooks, world: World): Promise<SimulatedAttempt> {
  const { clock, provider, bursts, assumptions } = world
  const startedMs = clock.monotonicMs()
  await hooks.onStarted({ pid: 1, start: 'simulated' })
  hooks.onPhase('start')
  const fate = fateOf(world.seed, identity, assumptions)
  const created = provider.create({ attempt: attemptName(identity), failsByChance: fate.createFails })
  if ('refusal' in created) {
    const outcome: Outcome = { kind: 'invalid', reason: 'sandbox_create_failed', phase: 'start', message: sentences[created.refusal] }
    return { report: { outcome, cleanup: 'none', seconds: 0, steps: 0 }, account: { identity, paidMs: 0, busyMs: 0, isValid: false } }
  }
  const course = courseOf({ fate, createdMs: startedMs, bursts, assumptions })
  const steps = await follow(course, { clock, hooks })
  const endsEarly = hooks.signal.aborted
  if (!endsEarly) await sleepUntil(course.goneMs, { clock, hooks })
  const paidMs = provider.end(created.id)
  if (!endsEarly) await sleepUntil(course.endMs, { clock, hooks })
  const outcome = outcomeOf(course, { isInterrupted: hooks.signal.aborted, reward: fate.reward })
  return {
    report: { outcome, cleanup: 'success', seconds: (clock.monotonicMs() - startedMs) / 1_000, steps, sandboxSeconds: paidMs / 1_000 },
    account: { identity, paidMs, busyMs: endsEarly ? 0 : course.busyMs, isValid: outcome.kind === 'valid' },
  }
}

type Follower = Pick<World, 'clock'> & { readonly hooks: AttemptHooks }

/** Tells of every milestone at its time; gives the last step. */
async function follow(course: Course, follower: Follower): Promise<number> {
  let steps = 0
  for (const milestone of course.milestones) {
    await sleepUntil(milestone.atMs, follower)
    if (follower.hooks.signal.aborted) return steps
    if ('phase' in milestone) follower.hooks.onPhase(milestone.phase)
    else {
      steps = milestone.step
      follower.hooks.onStep(steps)
    }
  }
  return steps
}

async function sleepUntil(atMs: number, { clock, hooks }: Follower): Promise<void> {
  await clock.sleep(atMs - clock.monotonicMs(), hooks.signal)
}

function outcomeOf(course: Course, { isInterrupted, reward }: { readonly isInterrupted: boolean; readonly reward: number }): Outcome {
  if (isInterrupted) return { kind: 'invalid', reason: 'interrupted', message: 'The run was stopped.' }
  if (course.isLost) return { kind: 'invalid', reason: 'guest_lost', message: 'The sandbox vanished.' }
  return { kind: 'valid', reward }
}
