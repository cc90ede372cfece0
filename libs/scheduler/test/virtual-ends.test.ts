import type { LedgerEvent, Outcome } from '@osworld-e2b/contracts'
import { describe, expect, test } from 'vitest'
import { contractWith, live } from './virtual-world.ts'

const interrupted: Outcome = { kind: 'invalid', reason: 'interrupted', message: 'The attempt said so itself.' }
const ofKind = (ledger: readonly LedgerEvent[], name: LedgerEvent['event']) => ledger.filter(({ event }) => event === name)

describe('what runs', () => {
  test('is brought to its recorded end when the disk cannot even be looked at, and then the run ends with that error', async () => {
    const failing = new Error('the disk cannot be looked at')
    const ledger: LedgerEvent[] = []
    const running = live({
      contract: contractWith(6),
      fate: () => ({ seconds: 100 }),
      problems: (seconds) => {
        if (seconds > 101) throw failing
        return []
      },
      input: { lookEveryMs: 120_000 },
      onLedger: (event) => void ledger.push(event),
    })
    await expect(running).rejects.toBe(failing)
    expect(ofKind(ledger, 'PLANNED')).toHaveLength(4)
    expect(ofKind(ledger, 'TERMINAL')).toHaveLength(4)
    expect(ledger.at(-1)).toMatchObject({ event: 'TERMINAL', outcome: { reason: 'interrupted' } })
  })

  test('and calls itself interrupted is not tried again before a resume', async () => {
    let tries = 0
    const world = await live({ contract: contractWith(2), fate: ({ id }) => ({ seconds: 10, ...(id === 't0' && (tries += 1) < 50 ? { outcome: interrupted } : {}) }) })
    expect(tries).toBe(1)
    expect(world.result).toMatchObject({ reason: 'incomplete', aggregate: { valid_tasks: 1 } })
    const resumed = await live({ contract: contractWith(2), before: world.ledger, fate: () => ({ seconds: 10 }) })
    expect(resumed.result).toMatchObject({ reason: 'complete' })
  })
})

describe('the last look for sandboxes', () => {
  test('begins after the last attempt has ended, also when another one was under way', async () => {
    const { result, sandboxes } = await live({ contract: contractWith(1), fate: () => ({ seconds: 50, leaks: true }), listSeconds: 10, input: { lookEveryMs: 45_000 } })
    expect(sandboxes.size).toBe(0)
    expect(result).toMatchObject({ orphans: { found: 1, killed: 1, remaining: 0 } })
  })

  test('counts one that stays once, however often it was looked at', async () => {
    const { result, ledger } = await live({
      contract: contractWith(9),
      fate: ({ id }) => ({ seconds: 50, leaks: id === 't0' }),
      isStuck: (id, seconds) => id.startsWith('s0') && seconds < 200,
      input: { lookEveryMs: 20_000 },
    })
    expect(result).toMatchObject({ reason: 'complete', aggregate: { orphans: { found: 1, killed: 1, remaining: 0 } } })
    expect(ofKind(ledger, 'ORPHANS_KILLED')).toEqual([expect.objectContaining({ orphans: { found: 1, killed: 0, remaining: 1 } }), expect.objectContaining({ orphans: { found: 0, killed: 1, remaining: 0 } })])
  })
})

test('a stop does not say that the cause of a pause is over', async () => {
  const { events, result } = await live({ contract: contractWith(10), fate: ({ id }) => ({ seconds: id === 't0' ? 300 : 60 }), problems: (seconds) => (seconds > 50 ? [{ reason: 'model_unhealthy', message: 'The model cannot be asked.' }] : []), drainAt: 150 })
  expect(result).toMatchObject({ reason: 'drained' })
  expect(events.filter(({ event }) => event.type === 'run_paused')).toHaveLength(1)
  expect(events.filter(({ event }) => event.type === 'run_continued')).toEqual([])
})
