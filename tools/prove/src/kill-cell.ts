import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { execa } from 'execa'
import { findVictim, type Search } from './find-victim.ts'
import type { Interrupts } from './interrupts.ts'
import { differencesOf } from './kill-difference.ts'
import { readPhaseLine } from './kill-moment.ts'
import { type KillableRun, startKillableRun, untilMoment } from './kill-run.ts'
import { type Cell, nameOfCell, type Victim } from './kill-table.ts'
import type { LeftOverWatch } from './left-over.ts'
import { type ProcessEntry, readProcess } from './process-tree.ts'
import { ProveError } from './prove-error.ts'
import type { KillFigure } from './record.ts'
import { isScored, openAttempts, readLedger, readTrialFacts, type TrialFacts } from './trial-facts.ts'

export interface CellContext {
  readonly command: readonly [string, ...string[]]
  /** Without links. */
  readonly results: string
  readonly interrupts: Interrupts
  readonly progress: (line: string) => void
  /** Flags that say which tasks and which agent. */
  readonly args: readonly string[]
  readonly trials: number
  readonly undisturbed: TrialFacts
  readonly leftOver: LeftOverWatch
  readonly hasVerify: boolean
}

/** How often a cell is made again whose victim had already passed the boundary when it died. */
const mostMisses = 5

/** Kills the victim at its boundary, lets the run come to its end, resumed when it needs to be, and compares it with the undisturbed one. */
export async function killCell(cell: Cell, context: CellContext): Promise<KillFigure> {
  const startedMs = performance.now()
  for (let misses = 0; ; misses += 1) {
    const killed = await killOnce(cell, `${cell.victim}-${cell.boundary.replace('_', '-')}-${misses + 1}`, context)
    if (killed.kind === 'missed' && misses < mostMisses) continue
    const failures = killed.kind === 'missed' ? ['the moment was over each time before the victim died'] : killed.failures
    const { victim, boundary } = cell
    return { victim, boundary, misses, seconds: (performance.now() - startedMs) / 1000, ...killed.figures, failures: failures.map((failure) => `${nameOfCell(cell)}: ${failure}.`) }
  }
}

type Figures = Pick<KillFigure, 'open_attempts' | 'planned_attempts' | 'invalid_by_reason' | 'score_declared' | 'exit_codes' | 'verify' | 'left_over'>

type Killed = { readonly kind: 'killed'; readonly figures: Figures; readonly failures: readonly string[] } | { readonly kind: 'missed'; readonly figures: Figures }

const nothingYet: Figures = { open_attempts: 0, planned_attempts: 0, invalid_by_reason: {}, score_declared: null, exit_codes: [], verify: 'absent', left_over: 0 }

async function killOnce(cell: Cell, runId: string, context: CellContext): Promise<Killed> {
  const { results, args, leftOver, trials } = context
  const runFolder = join(results, runId)
  const first = start(runId, args, context)
  const stopFollowing = leftOver.follow(first.pid)
  const death = await untilDeath(cell, first, { runFolder, trials })
  const exitCodes = [await first.ended]
  await stopFollowing()
  refuseWhenStopped(context)
  if (death.kind === 'missed' || (death.kind === 'died' && (await isTooLate(cell, death, runFolder)))) return { kind: 'missed', figures: { ...nothingYet, exit_codes: exitCodes } }
  if (death.kind === 'failed') return { kind: 'killed', figures: { ...nothingYet, exit_codes: exitCodes }, failures: [death.failure] }
  const leftAtDeath = cell.victim === 'coordinator' ? await leftOver.leftOver('living') : []
  if (exitCodes[0] !== 0 && isResumed(cell.victim)) exitCodes.push(await resume(runId, context))
  const leftAtEnd = await leftOver.leftOver('files')
  const left = [...leftAtDeath, ...leftAtEnd]
  for (const item of left) context.progress(`  left over: ${item}`)
  const killed = await readTrialFacts(runFolder)
  const verify = context.hasVerify ? await verified(runFolder, context) : 'absent'
  const failures = [
    ...differencesOf({ undisturbed: context.undisturbed, killed, expected: cell.expected, openAttempts: death.openAttempts }),
    ...(exitCodes.at(-1) === 0 ? [] : [`osworld run ended with exit code ${exitCodes.at(-1) ?? 'none'} instead of 0`]),
    ...(verify === 'failed' ? ['osworld verify found a fault'] : []),
    ...(left.length === 0 ? [] : [`${left.length} things were left over`]),
  ]
  const figures: Figures = {
    open_attempts: death.openAttempts,
    planned_attempts: killed.plannedAttempts,
    invalid_by_reason: killed.invalidByReason,
    score_declared: killed.scoreDeclared,
    exit_codes: exitCodes,
    verify,
    left_over: left.length,
  }
  return { kind: 'killed', figures, failures }
}

function start(runId: string, args: readonly string[], { command, results, interrupts }: CellContext): KillableRun {
  return startKillableRun({ command, args: ['--results', results, '--run-id', runId, ...args], logFile: join(results, `${runId}.log`), interrupts })
}

/** By its name alone, as a user would: it goes on with the settings it has. */
async function resume(runId: string, context: CellContext): Promise<number | null> {
  const again = start(runId, [], context)
  const stopFollowing = context.leftOver.follow(again.pid)
  const exitCode = await again.ended
  await stopFollowing()
  refuseWhenStopped(context)
  return exitCode
}

/** These end the run; any other victim's run goes on by itself. */
function isResumed(victim: Victim): boolean {
  return victim === 'coordinator' || victim === 'server'
}

type Death = { readonly kind: 'died'; readonly openAttempts: number; readonly attemptDir: string | undefined } | { readonly kind: 'missed' } | { readonly kind: 'failed'; readonly failure: string }

async function untilDeath({ victim, boundary }: Cell, run: KillableRun, { runFolder, trials }: { readonly runFolder: string; readonly trials: number }): Promise<Death> {
  const coming = untilMoment(run, runFolder, { boundary, trials })
  const search = { coordinator: run.pid, runFolder, moment: { attemptDir: undefined } }
  const known = await lookAhead(victim, run, search)
  const moment = await coming
  if (moment === undefined) return { kind: 'failed', failure: 'the run ended without coming to the boundary' }
  const found = known.get(moment.attemptDir) ?? known.get(undefined) ?? (await untilFound(victim, run, { ...search, moment }))
  const isOver: Death = boundary === 'run_end' ? { kind: 'missed' } : { kind: 'failed', failure: 'there was no such process' }
  if (found === undefined || !kill(found)) return isOver
  await untilGone(found)
  const events = await readLedger(runFolder)
  return boundary === 'run_end' && events.some(({ event }) => event === 'RUN_ENDED') ? isOver : { kind: 'died', openAttempts: openAttempts(events), attemptDir: moment.attemptDir }
}

/**
 * Victims by the folder of their attempt, found before the moment comes, since some moments are over sooner than all processes are looked at:
 * the server, which is there before anything else, and whatever belongs to an attempt whose agent acts.
 */
async function lookAhead(victim: Victim, run: KillableRun, search: Search): Promise<ReadonlyMap<string | undefined, ProcessEntry>> {
  const known = new Map<string | undefined, ProcessEntry>()
  const look = async (attemptDir: string | undefined) => {
    const found = await findVictim(victim, { ...search, moment: { attemptDir } })
    if (found !== undefined) known.set(attemptDir, found)
  }
  if (victim === 'server') {
    const server = await untilFound(victim, run, search)
    if (server !== undefined) known.set(undefined, server)
  } else if (victim !== 'coordinator') {
    run.onLine((line) => {
      const event = readPhaseLine(line)
      if (event?.phase === 'agent') void look(event.identity.attemptDir)
    })
  }
  return known
}

/** An evaluation may be over before the kill is: then its reward counts and nothing is lost. */
async function isTooLate({ boundary, expected }: Cell, { attemptDir }: Extract<Death, { kind: 'died' }>, runFolder: string): Promise<boolean> {
  return boundary === 'evaluate' && expected.loses === 'one' && isScored(await readLedger(runFolder), attemptDir ?? '')
}

/** False when it had ended by itself. */
function kill({ pid }: ProcessEntry): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false
    throw error
  }
}

const patienceMs = 30_000
const lookEveryMs = 5

async function untilFound(victim: Victim, run: KillableRun, search: Search): Promise<ProcessEntry | undefined> {
  const endMs = performance.now() + patienceMs
  while (!run.hasEnded() && performance.now() < endMs) {
    const found = await findVictim(victim, search)
    if (found !== undefined) return found
    await wait(lookEveryMs)
  }
  return undefined
}

async function untilGone({ pid, start: startTime }: ProcessEntry): Promise<void> {
  while ((await readProcess(pid))?.start === startTime) await wait(lookEveryMs)
}

async function verified(runFolder: string, { command: [program, ...first], progress }: CellContext): Promise<'passed' | 'failed'> {
  const { exitCode, all } = await execa(program, [...first, 'verify', runFolder], { reject: false, all: true, stdin: 'ignore' })
  if (exitCode !== 0) progress(`  osworld verify: ${all}`)
  return exitCode === 0 ? 'passed' : 'failed'
}

function refuseWhenStopped({ interrupts }: CellContext): void {
  if (interrupts.signal.aborted) throw new ProveError('interrupted', 'Stopped; no record is written.')
}
