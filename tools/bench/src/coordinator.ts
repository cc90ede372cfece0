import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { coordinatorReportSchema, type CoordinatorReport, queuedAttempts, runningAttempts } from './coordinator-process.ts'
import type { Figure } from './figures.ts'
import { ledgerFigures } from './ledger-figures.ts'

const rounds = 3

/** The coordinator's core under a thousand queued and a hundred running attempts, and what its ledger costs. */
export async function benchCoordinator(): Promise<readonly Figure[]> {
  const reports: CoordinatorReport[] = []
  for (let round = 0; round < rounds; round += 1) reports.push(await oneCampaign())
  const what = `${queuedAttempts.toLocaleString('en-US')} queued and ${runningAttempts} running attempts`
  return [
    { name: `peak memory with ${what}`, unit: 'MB', samples: reports.map((report) => report.peak_rss_mb), target: 200 },
    { name: 'memory before them', unit: 'MB', samples: reports.map((report) => report.rss_before_mb) },
    { name: `processor time with ${what}`, unit: 'of a core', samples: reports.map((report) => report.cpu_seconds / report.seconds), target: 1 },
    { name: 'attempts that ended', unit: 'a second', samples: reports.map((report) => report.attempts / report.seconds) },
    { name: 'steps that were reported', unit: 'a second', samples: reports.map((report) => report.steps / report.seconds) },
    ...(await ledgerFigures()),
  ]
}

/** In a process of its own, so that nothing else is in the figures than what a coordinator holds. */
async function oneCampaign(): Promise<CoordinatorReport> {
  const folder = await mkdtemp(join(tmpdir(), 'osworld-coordinator-'))
  try {
    const child = spawn(process.execPath, [process.argv[1] ?? '', '--coordinator-process', folder], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(child, 'close')
    const answer = await text(child.stdout)
    const [code] = (await ended) as [number | null]
    if (code !== 0) throw new Error(`The coordinator's process ended with exit code ${code ?? 'none'}.`)
    return coordinatorReportSchema.parse(JSON.parse(answer))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
