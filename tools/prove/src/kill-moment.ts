import { type LedgerEvent, phaseSchema } from '@osworld-e2b/contracts'
import { z } from 'zod'
import type { Boundary } from './kill-table.ts'

/** What `osworld run --json` says when an attempt enters a phase; other lines of it are of no interest here. */
const phaseLineSchema = z.object({ type: z.literal('attempt_phase'), phase: phaseSchema, identity: z.object({ attemptDir: z.string() }) })
export type PhaseLine = z.infer<typeof phaseLineSchema>

export function readPhaseLine(line: string): PhaseLine | undefined {
  if (!line.startsWith('{')) return undefined
  return phaseLineSchema.safeParse(JSON.parse(line)).data
}

export interface Moment {
  /** Folder of the attempt that is there, relative to the run's; after the last one undefined. */
  readonly attemptDir: string | undefined
}

/** Sees a boundary come. Events are given in their order; the first call that gives a moment is it. */
export function createMomentWatch(boundary: Boundary, trials: number): (event: LedgerEvent | PhaseLine) => Moment | undefined {
  const open = new Map<string, string>()
  let ended = 0
  return (event) => {
    if ('type' in event) return event.phase === boundary ? { attemptDir: event.identity.attemptDir } : undefined
    if (!('attempt' in event)) return undefined
    const key = `${event.domain}/${event.task_id}/${event.trial}.${event.attempt}`
    if (event.event === 'PLANNED') open.set(key, event.attempt_dir)
    if (event.event === 'PLANNED' && boundary === 'planned') return { attemptDir: event.attempt_dir }
    if (event.event === 'STARTED' && boundary === 'started') return { attemptDir: open.get(key) }
    if (event.event !== 'TERMINAL') return undefined
    open.delete(key)
    ended += 1
    if (boundary === 'terminal') return { attemptDir: [...open.values()][0] }
    return boundary === 'run_end' && ended === trials ? { attemptDir: undefined } : undefined
  }
}
