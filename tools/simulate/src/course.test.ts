import { expect, test } from 'vitest'
import { defaultAssumptions } from './assumptions.ts'
import { Bursts } from './bursts.ts'
import { courseOf } from './course.ts'
import type { Fate } from './fate.ts'

const bursts = new Bursts('seed', 60_000)
const [burst] = bursts.between(0, 3_600_000)
if (burst === undefined) throw new Error('There is no burst in the first hour.')
const fate: Fate = { createFails: false, readyMs: 5_000, workMs: 100_000, vanishesAfter: undefined, reward: 1 }
/** Long after the burst of the first hour, so that none is near. */
const createdMs = burst.endMs + 1_000

test('an attempt that nothing happens to works for its time and is paid until its sandbox is gone', () => {
  const course = courseOf({ fate, createdMs, bursts, assumptions: defaultAssumptions })
  expect(course).toMatchObject({ isLost: false, busyMs: 100_000 })
  expect(course.goneMs).toBeCloseTo(createdMs + 5_000 + 100_000 + 2_000, 3)
  expect(course.milestones.map((milestone) => ('phase' in milestone ? milestone.phase : milestone.step))).toEqual([
    'setup',
    'agent',
    ...Array.from({ length: 25 }, (_, index) => index + 1),
    'evaluate',
  ])
  expect(course.milestones.map(({ atMs }) => atMs)).toEqual(course.milestones.map(({ atMs }) => atMs).sort((a, b) => a - b))
})

test('a sandbox that vanishes half-way is paid until then, and the attempt notices it later', () => {
  const course = courseOf({ fate: { ...fate, vanishesAfter: 0.5 }, createdMs, bursts, assumptions: defaultAssumptions })
  expect(course.isLost).toBe(true)
  expect(course.goneMs).toBeCloseTo(createdMs + 52_500, 3)
  expect(course.endMs).toBeCloseTo(createdMs + 72_500, 3)
  expect(course.busyMs).toBeCloseTo(47_500, 3)
  expect(course.milestones.every(({ atMs }) => atMs <= course.goneMs)).toBe(true)
})

test('an attempt that runs through a burst stands still for it, paid and not busy', () => {
  const course = courseOf({ fate, createdMs: burst.startMs - 50_000, bursts, assumptions: defaultAssumptions })
  expect(course).toMatchObject({ isLost: false, busyMs: 100_000 })
  expect(course.goneMs).toBeCloseTo(burst.startMs - 50_000 + 5_000 + 100_000 + 60_000 + 2_000, 3)
})

test('a time to live that is no longer than a burst loses the sandboxes that run through it', () => {
  const assumptions = { ...defaultAssumptions, timeToLiveSeconds: 60 }
  const course = courseOf({ fate, createdMs: burst.startMs - 50_000, bursts, assumptions })
  expect(course.isLost).toBe(true)
  // The last heartbeat before the burst was sent 40 s after the create.
  expect(course.goneMs).toBeCloseTo(burst.startMs - 10_000 + 60_000, 3)
})
