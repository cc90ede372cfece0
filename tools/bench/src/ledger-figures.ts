import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { LedgerEvent } from '@osworld-e2b/contracts'
import { openLedger } from '@osworld-e2b/scheduler'
import type { Figure } from './figures.ts'

const replayedEvents = 10_000
const replayRounds = 9
const appends = 300

/** What the ledger costs: replaying a long one, and appending to an empty and to a long one. */
export async function ledgerFigures(): Promise<readonly Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'osworld-ledger-'))
  try {
    const { once, twice } = await replayFigures(folder)
    const empty = await appendFigures(folder, 'empty.jsonl')
    const long = await appendFigures(folder, 'once.jsonl')
    const count = replayedEvents.toLocaleString('en-US')
    return [
      { name: `replay of a ledger of ${count} events`, unit: 's', samples: once, target: 1 },
      { name: 'replay of twice as many', unit: 'of its time', samples: twice.map((seconds, round) => seconds / (once[round] ?? Number.NaN)) },
      { name: 'append to an empty ledger', unit: 'ms', samples: empty.totalMs },
      { name: `append to one of ${count} events`, unit: 'ms', samples: long.totalMs },
      { name: 'fsync of such a line alone', unit: 'ms', samples: long.fsyncMs },
      { name: 'append besides fsync', unit: 'ms', samples: long.besidesMs, target: 1 },
    ]
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Seconds for a ledger and for one of twice its length, round by round, so that both meet the same machine. */
async function replayFigures(folder: string): Promise<{ readonly once: readonly number[]; readonly twice: readonly number[] }> {
  const paths = { once: join(folder, 'once.jsonl'), twice: join(folder, 'twice.jsonl') }
  await writeFile(paths.once, textOf(replayedEvents))
  await writeFile(paths.twice, textOf(replayedEvents * 2))
  const once: number[] = []
  const twice: number[] = []
  for (let round = 0; round < replayRounds; round += 1) {
    once.push(await replaySeconds(paths.once))
    twice.push(await replaySeconds(paths.twice))
  }
  return { once, twice }
}

async function replaySeconds(path: string): Promise<number> {
  const startedMs = performance.now()
  const ledger = await openLedger(path, now)
  const seconds = (performance.now() - startedMs) / 1_000
  await ledger.close()
  return seconds
}

interface AppendTimes {
  readonly totalMs: readonly number[]
  readonly fsyncMs: readonly number[]
  readonly besidesMs: readonly number[]
}

/** The ledger writes and syncs in one step; a neighbouring file that gets the same line tells what the two parts take. */
async function appendFigures(folder: string, name: string): Promise<AppendTimes> {
  let storingMs = 0
  const ledger = await openLedger(join(folder, name), now, async (work) => {
    const startedMs = performance.now()
    const value = await work()
    storingMs = performance.now() - startedMs
    return value
  })
  const neighbour = await open(join(folder, `${name}.neighbour`), 'a')
  const times = { totalMs: [] as number[], fsyncMs: [] as number[], besidesMs: [] as number[] }
  try {
    for (let index = 0; index < appends; index += 1) {
      const [event] = attemptEvents(1_000_000 + index)
      const totalMs = await timedMs(() => ledger.append(event))
      const writeMs = await timedMs(() => neighbour.appendFile(`${JSON.stringify(event)}\n`))
      times.fsyncMs.push(await timedMs(() => neighbour.datasync()))
      times.totalMs.push(totalMs)
      times.besidesMs.push(totalMs - storingMs + writeMs)
    }
    return times
  } finally {
    await neighbour.close()
    await ledger.close()
  }
}

async function timedMs(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

/** A run's start and then attempts, one after another; the last may be left open. */
function textOf(count: number): string {
  const start: LedgerEvent = { event: 'RUN_STARTED', timestamp: now().toISOString(), pid: 1, host: 'bench' }
  const attempts = Array.from({ length: Math.ceil(count / 3) }, (_, index) => attemptEvents(index + 1)).flat()
  const lines = [start, ...attempts].slice(0, count).map((event) => JSON.stringify(event))
  return `${lines.join('\n')}\n`
}

function attemptEvents(task: number): readonly [LedgerEvent, LedgerEvent, LedgerEvent] {
  const key = { domain: 'bench', task_id: `${task}`.padStart(36, '0'), trial: 1, attempt: 1, timestamp: now().toISOString() }
  return [
    { event: 'PLANNED', ...key, attempt_dir: `attempts/bench/${key.task_id}/1.1` },
    { event: 'STARTED', ...key, pid: 4_000_000, pid_start: '123456789' },
    { event: 'TERMINAL', ...key, outcome: { kind: 'valid', reward: 1 }, cleanup: 'success', seconds: 900.5, steps: 15, sandbox_seconds: 905.25, catalog_sha256: '0'.repeat(64) },
  ]
}

function now(): Date {
  return new Date()
}
