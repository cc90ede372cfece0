import type { Phase } from '@osworld-e2b/contracts'
import type { Assumptions } from './assumptions.ts'
import type { Bursts } from './bursts.ts'
import type { Fate } from './fate.ts'

export type Milestone = { readonly atMs: number } & ({ readonly phase: Phase } | { readonly step: number })

/** How an attempt goes whose sandbox was created; all moments in milliseconds since the start of the run. */
export interface Course {
  /** In the order of time. */
  readonly milestones: readonly Milestone[]
  /** When the sandbox is gone. */
  readonly goneMs: number
  /** When the attempt knows how it ended. */
  readonly endMs: number
  /** Time in which the ready sandbox worked. */
  readonly busyMs: number
  readonly isLost: boolean
}

export interface CourseInput {
  readonly fate: Fate
  readonly createdMs: number
  readonly bursts: Bursts
  readonly assumptions: Assumptions
}

/** Decides the whole course of an attempt at the moment of its create. */
export function courseOf({ fate, createdMs, bursts, assumptions }: CourseInput): Course {
  const readyMs = bursts.clear(createdMs + fate.readyMs)
  const after = (share: number) => bursts.finish(readyMs, fate.workMs * share)
  const doneMs = after(1)
  const milestones = milestonesOf(readyMs, after, assumptions)
  const lostMs = Math.min(vanishMs(fate, createdMs), expiryMs({ fate, createdMs, bursts, assumptions }, doneMs))
  if (lostMs >= doneMs) {
    const goneMs = bursts.clear(doneMs) + assumptions.killSeconds * 1_000
    return { milestones, goneMs, endMs: goneMs, busyMs: fate.workMs, isLost: false }
  }
  return {
    milestones: milestones.filter(({ atMs }) => atMs <= lostMs),
    goneMs: lostMs,
    endMs: lostMs + assumptions.noticeSeconds * 1_000,
    busyMs: bursts.workIn(readyMs, Math.max(readyMs, lostMs)),
    isLost: true,
  }
}

function milestonesOf(readyMs: number, after: (share: number) => number, { setupShare, evaluateShare, steps }: Assumptions): readonly Milestone[] {
  const agentShare = 1 - setupShare - evaluateShare
  return [
    { atMs: readyMs, phase: 'setup' },
    { atMs: after(setupShare), phase: 'agent' },
    ...Array.from({ length: steps }, (_, index) => ({ atMs: after(setupShare + (agentShare * (index + 1)) / steps), step: index + 1 })),
    { atMs: after(1 - evaluateShare), phase: 'evaluate' },
  ]
}

function vanishMs({ vanishesAfter, readyMs, workMs }: Fate, createdMs: number): number {
  return vanishesAfter === undefined ? Infinity : createdMs + vanishesAfter * (readyMs + workMs)
}

/** When the sandbox's life ends because no heartbeat came through a burst; infinite when every burst is short enough. */
function expiryMs({ createdMs, bursts, assumptions }: CourseInput, doneMs: number): number {
  const timeToLiveMs = assumptions.timeToLiveSeconds * 1_000
  const beatMs = timeToLiveMs / 3
  for (const burst of bursts.between(createdMs, doneMs)) {
    const lastBeatMs = createdMs + Math.floor((burst.startMs - createdMs) / beatMs) * beatMs
    if (lastBeatMs + timeToLiveMs < burst.endMs) return lastBeatMs + timeToLiveMs
  }
  return Infinity
}
