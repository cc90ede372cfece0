import { expect, test } from 'vitest'
import { createVirtualClock } from './virtual-clock.ts'

const start = new Date('2026-01-01T00:00:00Z')
const never = new AbortController().signal

test('sleepers wake in the order of their times, and those of one time in the order in which they fell asleep', async () => {
  const clock = createVirtualClock(start)
  const woken: string[] = []
  const sleep = async (name: string, milliseconds: number) => {
    await clock.sleep(milliseconds, never)
    woken.push(`${name} at ${clock.monotonicMs()}`)
  }
  await clock.run(Promise.all([sleep('a', 30), sleep('b', 10), sleep('c', 30), sleep('d', 20)]))
  expect(woken).toEqual(['b at 10', 'd at 20', 'a at 30', 'c at 30'])
  expect(clock.now()).toEqual(new Date('2026-01-01T00:00:00.030Z'))
})

test('time stands still while something can go on without it', async () => {
  const clock = createVirtualClock(start)
  const seen: number[] = []
  const worker = async () => {
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
    await new Promise(setImmediate)
    seen.push(clock.monotonicMs())
    await clock.sleep(5, never)
    seen.push(clock.monotonicMs())
  }
  await clock.run(Promise.all([worker(), clock.sleep(1_000, never)]))
  expect(seen).toEqual([0, 5])
})

test('an aborted sleep ends at once and moves no time', async () => {
  const clock = createVirtualClock(start)
  const stop = new AbortController()
  const aborted = async () => {
    await clock.sleep(3_600_000, stop.signal)
    return clock.monotonicMs()
  }
  const aborter = async () => {
    await clock.sleep(7, never)
    stop.abort()
  }
  const [atMs] = await clock.run(Promise.all([aborted(), aborter()]))
  expect(atMs).toBe(7)
  expect(clock.monotonicMs()).toBe(7)
})

test('a sleep with a signal that is aborted already does not sleep', async () => {
  const clock = createVirtualClock(start)
  await clock.run(clock.sleep(1_000, AbortSignal.abort()))
  expect(clock.monotonicMs()).toBe(0)
})

test('work that waits for nothing that sleeps is refused instead of waited for', async () => {
  const clock = createVirtualClock(start)
  await expect(clock.run(new Promise(() => undefined))).rejects.toMatchObject({
    code: 'stuck',
    message: 'The simulated run does not end: nothing in it waits for time to pass. This is a fault of the engine or of the simulation: report it with the seed.',
  })
})

test('work that sleeps for no time again and again is refused', async () => {
  const clock = createVirtualClock(start)
  const work = async () => {
    await clock.sleep(5_000, never)
    for (;;) await clock.sleep(-1, never)
  }
  await expect(clock.run(work())).rejects.toMatchObject({
    code: 'stuck',
    message:
      'The simulated run does not end: something in it waits again and again for the moment that is now (5 s after its start). This is a fault of the engine or of the simulation: report it with the seed.',
  })
})

test('the failure of the work is the failure of the run', async () => {
  const clock = createVirtualClock(start)
  const work = async () => {
    await clock.sleep(1, never)
    throw new Error('broken')
  }
  await expect(clock.run(work())).rejects.toThrow('broken')
})
