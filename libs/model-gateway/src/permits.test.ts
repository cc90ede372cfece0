import { describe, expect, it } from 'vitest'
import { Permits } from './permits.ts'

const never = new AbortController().signal

describe('permits', () => {
  it('are given in the order of asking, and only so many at once', async () => {
    const permits = new Permits(1)
    const order: number[] = []
    const first = await permits.acquire(never)
    const others = [1, 2, 3].map(async (number) => {
      const release = await permits.acquire(never)
      order.push(number)
      release?.()
    })
    await Promise.resolve()
    expect(order).toEqual([])
    first?.()
    await Promise.all(others)
    expect(order).toEqual([1, 2, 3])
  })

  it('are not lost with those who leave, and count once however often they are given back', async () => {
    const permits = new Permits(1)
    const first = await permits.acquire(never)
    const leaver = new AbortController()
    const left = permits.acquire(leaver.signal)
    const stays = permits.acquire(never)
    leaver.abort()
    expect(await left).toBeUndefined()
    first?.()
    first?.()
    const second = await stays
    expect(second).toBeDefined()
    const third = permits.acquire(never)
    permits.sendWaitingAway()
    expect(await third).toBeUndefined()
    second?.()
    expect(await permits.acquire(never)).toBeDefined()
    expect(await permits.acquire(leaver.signal)).toBeUndefined()
  })
})
