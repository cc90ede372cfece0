import { closeSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { LedgerEvent } from '@osworld-e2b/contracts'
import { acquireRunLock, createRoom, type Ledger, openLedger, runCampaign, SchedulerError, systemClock } from '../src/index.ts'
import { type FaultySetup, faultyCampaign, writeTask } from './faults-campaign.ts'

/** What `faults-coordinator.ts` is told. */
interface Told {
  readonly setup: FaultySetup
  /** The moment at which the disk of its run folder becomes full. */
  readonly fillAt?: 'planned' | 'attempt' | 'terminal' | 'ended' | 'aggregate'
  /** Makes room before it begins. */
  readonly freeFirst?: boolean
}

/**
 * A coordinator as a process of its own. It prints its events as JSON lines, makes room when it is told `free` on its standard input,
 * stops at SIGTERM, and prints last what the ledger holds.
 */
const { setup, fillAt, freeFirst = false } = JSON.parse(process.argv[2] ?? '') as Told
const { runFolder } = setup
const ledgerPath = join(runFolder, 'attempts.jsonl')
const ballast = join(runFolder, 'ballast')
let hasFilled = false
let hasEnded = false

function print(value: unknown): void {
  writeSync(1, `${JSON.stringify(value)}\n`)
}

/** To the last byte; only then the file has its name. */
function fill(): void {
  hasFilled = true
  const part = `${ballast}.part`
  const file = openSync(part, 'w')
  for (let size = 65_536; size > 0; ) {
    try {
      writeSync(file, Buffer.alloc(size))
    } catch {
      size = Math.floor(size / 2)
    }
  }
  closeSync(file)
  renameSync(part, ballast)
  print({ type: 'filled' })
}

function free(): void {
  rmSync(ballast, { force: true })
}

/** A file of a memory disk still takes what fits into its last page; these bytes of the next line do, and the others do not. */
const fitting = 20
const page = 4_096
const longestPadding = 1_500

async function pad(ledger: Ledger): Promise<void> {
  for (;;) {
    const missing = (2 * page - fitting - (statSync(ledgerPath).size % page)) % page
    if (missing === 0) return
    const event = (message: string): LedgerEvent => ({ event: 'RUN_PAUSED', timestamp: new Date().toISOString(), reason: 'model_unhealthy', message })
    const least = JSON.stringify(event('')).length + 1
    const length = (missing < least ? missing + page : missing) - least
    // What is left after a long one must hold another.
    await ledger.append(event('x'.repeat(length > longestPadding ? Math.min(longestPadding, length - least) : length)))
  }
}

const before: Readonly<Record<string, LedgerEvent['event']>> = { planned: 'PLANNED', terminal: 'TERMINAL', ended: 'RUN_ENDED' }

function onFillingDisk(ledger: Ledger): Ledger {
  return {
    ...ledger,
    append: async (event) => {
      if (!hasFilled && fillAt !== undefined && before[fillAt] === event.event) {
        hasFilled = true
        await pad(ledger)
        fill()
      }
      await ledger.append(event)
      hasEnded = event.event === 'RUN_ENDED'
    },
  }
}

print({ type: 'begun', pid: process.pid })
if (freeFirst) free()
const stop = new AbortController()
process.on('SIGTERM', () => stop.abort())
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'free') free()
})

async function run(): Promise<void> {
  const lock = await acquireRunLock(join(runFolder, 'run.lock'), { pid: process.pid, now: new Date() })
  await writeTask(runFolder)
  const room = createRoom({ folder: runFolder, clock: systemClock, signal: stop.signal, everyMs: 50 })
  const ledger = await openLedger(ledgerPath, () => new Date(), (work) => room.keep(work))
  const { input, services } = faultyCampaign(setup, {
    ledger: onFillingDisk(ledger),
    room,
    onEvent: (event) => {
      if (fillAt === 'attempt' && !hasFilled && event.type === 'attempt_phase') fill()
      print(event)
    },
  })
  try {
    const writeAggregate: typeof services.writeAggregate = (aggregate) => {
      if (fillAt === 'aggregate' && hasEnded && !hasFilled) fill()
      return services.writeAggregate(aggregate)
    }
    print({ type: 'result', ...(await runCampaign(input, { ...services, writeAggregate }, stop.signal)) })
  } finally {
    await ledger.close()
    await lock.release()
  }
}

try {
  await run()
} catch (error) {
  print({ type: 'failed', code: error instanceof SchedulerError ? error.code : 'unknown', message: error instanceof Error ? error.message : String(error) })
}
print({ type: 'ledger', text: readFileSync(ledgerPath, 'utf8') })
process.stdin.destroy()
